/** The doctor from the drop-in jar, without Spark on the class path. */
package dev.sluice.doctor.alone;
