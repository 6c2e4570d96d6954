/**
 * Sizes an executor for a shuffle: {@code doctor size}. {@link SizeCommand} is where to begin. It
 * reads {@link SizeOptions}, computes a {@link Sizing} by the rules that executors themselves have,
 * and prints it by a {@link SizeText}.
 */
package dev.sluice.doctor.size;
