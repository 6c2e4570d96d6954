/**
 * Checks of a node. {@link Checks} lists them, with one class for each question. {@link
 * CheckRunner} asks them about a {@link CheckContext}, each with a deadline, and returns the
 * findings.
 */
package dev.sluice.doctor.check;
