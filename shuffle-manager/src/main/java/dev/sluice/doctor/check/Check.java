package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import java.util.List;

/** One question about this node. Asked once, on a thread of its own, which may be left behind. */
public interface Check {
  /** What it is about, in a word or two: the name of its findings. */
  String name();

  /**
   * @throws Exception where it could not be answered, which is a failure with its message
   */
  List<Finding> findings() throws Exception;
}
