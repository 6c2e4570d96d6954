package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import java.io.Serializable;
import java.util.List;

/**
 * What one executor found.
 *
 * @param id the executor's
 */
record ExecutorReport(String id, List<Finding> findings) implements Serializable {}
