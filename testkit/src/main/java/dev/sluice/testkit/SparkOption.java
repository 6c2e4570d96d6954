// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import picocli.CommandLine.Model.OptionSpec;

/** The option by which commands choose a Spark version; bin/lib.sh reads it before they start. */
public final class SparkOption {
  public static final String NAME = "--spark";
  public static final String LABEL = "4.0|4.1|4.2";
  public static final String DESCRIPTION = "Spark version of driver and executors (default: 4.2)";

  private SparkOption() {}

  /** Returns the option for a command that does not annotate all its options. */
  public static OptionSpec spec() {
    return OptionSpec.builder(NAME)
        .type(String.class)
        .paramLabel(LABEL)
        .description(DESCRIPTION)
        .build();
  }
}
