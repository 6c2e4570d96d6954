/**
 * Estimates the gain of an application of Spark by Sluice, by its event log: {@code doctor
 * qualify}. {@link QualifyCommand} is where to begin. It finds the files of an {@link EventLog},
 * decompresses them by their {@link Codec}, reads them line by line ({@link LogLines}, {@link
 * EventReader}) into an {@link Application}, estimates each {@link Stage} by the {@link GainModel},
 * and prints the answer by a {@link QualifyText}.
 */
package dev.sluice.doctor.qualify;
