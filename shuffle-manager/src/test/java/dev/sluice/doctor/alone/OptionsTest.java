package dev.sluice.doctor.alone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.PeerAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {
  private static Options parse(String... arguments) {
    return Options.parse(List.of(arguments));
  }

  @Test
  void aPeerIsAHostAndPerhapsAPort() {
    assertThat(parse().peer()).isEmpty();
    assertThat(parse("--peer", "b").peer()).contains(new PeerAddress("b", "b", 7391));
    assertThat(parse("--peer", "b:80").peer()).contains(new PeerAddress("b:80", "b", 80));
    assertThat(parse("--peer", "fd77::1").peer())
        .contains(new PeerAddress("fd77::1", "fd77::1", 7391));
    assertThat(parse("--peer", "[fd77::1]:80").peer())
        .contains(new PeerAddress("[fd77::1]:80", "fd77::1", 80));
  }

  @Test
  void localDirectoriesAreAList() {
    assertThat(parse("--local-dirs", "/a,,/b").localDirectories())
        .containsExactly(Path.of("/a"), Path.of("/b"));
    assertThat(parse().localDirectories()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--pear",
        "--peer",
        "--peer b:x",
        "--peer b:",
        "--peer :80",
        "--peer b:0",
        "--peer b:65536",
        "--port x",
        "--port 65536",
        "--provider tcp",
        "--seconds",
        "--seconds 0",
        "--local-dirs ,"
      })
  void whatIsWrongIsNamed(String arguments) {
    assertThatThrownBy(() -> parse(arguments.split(" ")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(arguments.split(" ")[0]);
  }
}
