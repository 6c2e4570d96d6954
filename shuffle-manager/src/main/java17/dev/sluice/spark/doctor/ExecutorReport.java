// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import java.io.Serializable;
import java.util.List;

/**
 * Findings of one executor, which {@link ExecutorTask} sends to {@link Doctor}.
 *
 * @param id id of the executor
 */
record ExecutorReport(String id, List<Finding> findings) implements Serializable {}
