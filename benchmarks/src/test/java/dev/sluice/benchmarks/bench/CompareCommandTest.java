package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class CompareCommandTest {
  @TempDir Path directory;
  private final StringWriter errors = new StringWriter();

  @Test
  void filesArePairedInTheirOrder() throws IOException {
    String[] sluice = {file("a", "{\"seconds\":1}"), file("b", "{\"seconds\":6}")};
    String[] stock = {file("c", "{\"seconds\":2}"), file("d", "{\"seconds\":3}")};
    Path rows = directory.resolve("rows.json");
    assertThat(run(sluice, stock, "--json", rows.toString())).isZero();
    Comparison row = new ResultFile(rows).read().getFirst();
    assertThat(row.name()).isEqualTo("sort");
    assertThat(row.ratios()).containsExactly(0.5, 2);
  }

  @Test
  void anyValueOfTheFilesCanBeCompared() throws IOException {
    String[] sluice = {file("a", "{\"stages\":[{\"wall\":9},{\"wall\":2}]}")};
    String[] stock = {file("c", "{\"stages\":[{\"wall\":9},{\"wall\":4}]}")};
    Path rows = directory.resolve("rows.json");
    assertThat(run(sluice, stock, "--value", "/stages/1/wall", "--json", rows.toString())).isZero();
    assertThat(new ResultFile(rows).read().getFirst().ratio()).isEqualTo(0.5);
  }

  @Test
  void aFileWithoutTheValueIsNamed() throws IOException {
    String[] sluice = {file("a", "{}")};
    assertThat(run(sluice, sluice)).isNotZero();
    assertThat(errors.toString()).contains(sluice[0]).contains("/seconds");
  }

  private String file(String name, String json) throws IOException {
    return Files.writeString(directory.resolve(name), json).toString();
  }

  private int run(String[] sluice, String[] stock, String... further) {
    List<String> arguments =
        Stream.of(
                new String[] {"--name", "sort", "--sluice"},
                sluice,
                new String[] {"--stock"},
                stock,
                further)
            .flatMap(Arrays::stream)
            .toList();
    return new CommandLine(new CompareCommand())
        .setOut(new PrintWriter(Writer.nullWriter()))
        .setErr(new PrintWriter(errors, true))
        .execute(arguments.toArray(String[]::new));
  }
}
