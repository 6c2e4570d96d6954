package dev.sluice.benchmarks;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options and output that the commands of bin/bench share. */
public final class ComparisonOutput {
  @Option(names = "--json", paramLabel = "FILE", description = "Write the rows there too")
  private Path json;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Of the command, for what it says beside its rows. */
  public PrintWriter out() {
    return command.commandLine().getOut();
  }

  /**
   * @return the command's exit status
   */
  public int write(Collection<Comparison> rows) throws IOException {
    return write(rows, List.of());
  }

  /**
   * @param problems what makes the rows worth nothing
   * @return the command's exit status: 0 only without problems
   */
  public int write(Collection<Comparison> rows, List<String> problems) throws IOException {
    List<Comparison> list = List.copyOf(rows);
    out().print(ComparisonTable.plain(list));
    problems.forEach(problem -> out().println("INVALID " + problem));
    if (json != null) {
      new ResultFile(json).write(list);
    }
    return problems.isEmpty() ? 0 : 1;
  }
}
