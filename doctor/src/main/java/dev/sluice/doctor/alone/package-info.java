/**
 * Runs the doctor from the drop-in jar, without Spark on the class path. {@link AloneLoader} loads
 * the classes, {@link CommandLine} runs the checks or serves other doctors.
 */
package dev.sluice.doctor.alone;
