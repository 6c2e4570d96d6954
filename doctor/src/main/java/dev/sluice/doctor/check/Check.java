// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import java.util.List;

/**
 * One question about this node. {@link CheckRunner} asks it once, on a thread of its own, which is
 * left behind if it hangs. A check closes all that it opens, and needs no lock.
 */
public interface Check {
  /** Returns the subject in a word or two: the name of its findings. */
  String name();

  /**
   * @throws Exception if the question has no answer, which is a failure with the exception's
   *     message
   */
  List<Finding> findings() throws Exception;
}
