// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.size;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Json;
import java.io.PrintStream;
import java.util.List;

/**
 * {@code doctor size}: prints memory and limits of an executor for a shuffle. It looks at no node,
 * so any machine will do. {@code CommandLine} calls it once, on the main thread.
 */
public final class SizeCommand {
  private SizeCommand() {}

  /**
   * Prints the answer, or an error with the options.
   *
   * @param arguments options
   * @return the exit status
   */
  public static int run(List<String> arguments, PrintStream out, PrintStream err) {
    SizeOptions options;
    try {
      options = SizeOptions.parse(arguments);
    } catch (IllegalArgumentException e) {
      err.print(e.getMessage() + "\n" + SizeOptions.HELP);
      return Finding.Level.FAIL.ordinal();
    }
    if (options.help()) {
      out.print(SizeOptions.HELP);
      return 0;
    }
    SizeText text = new SizeText(options, Sizing.of(options));
    out.print(options.json() ? Json.of(text.fields()) + "\n" : text.text());
    return 0;
  }
}
