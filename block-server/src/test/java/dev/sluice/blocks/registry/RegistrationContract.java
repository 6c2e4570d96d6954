// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.directory.GuestFileSystem;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistrationUnavailableException;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Map outputs as memory regions of a device, in each mode and on several file systems: that of the
 * system's temporary directory, one in memory, and in a guest of the test bed the file systems that
 * it mounts.
 */
@ParameterizedClass
@MethodSource("directories")
abstract class RegistrationContract {
  private static final int SHUFFLE = 3;
  private static final int[] PARTITIONS = {100_000, 0, 1, 250_000};

  @Parameter(0)
  Path parent;

  /** Reason for the lack of a parent, or null. */
  @Parameter(1)
  String missing;

  private Path directory;
  private TestMapOutputs outputs;
  private Node serving;
  private Node reading;

  static Stream<Arguments> directories() {
    return Stream.concat(
        Stream.of(System.getProperty("java.io.tmpdir"), "/dev/shm")
            .map(directory -> arguments(Path.of(directory), null)),
        GuestFileSystem.mountAll().map(guest -> arguments(guest.directory(), guest.missing())));
  }

  /** Opens a device; aborts the test if there is none. */
  abstract Device openDevice() throws IOException;

  /** Returns the form of {@link RegistrationMode#AUTO} on this machine; empty if it has none. */
  abstract Optional<RegistrationMethod> form();

  @BeforeEach
  void open() throws Exception {
    assumeThat(missing).isNull();
    serving = new Node(openDevice());
    reading = new Node(openDevice());
    directory = Files.createTempDirectory(parent, "sluice-registration-");
    outputs = new TestMapOutputs(directory);
  }

  @AfterEach
  void close() throws Exception {
    if (reading == null) {
      return;
    }
    assertThat(outputs.mappings()).isZero();
    reading.close();
    serving.close();
    outputs.delete(SHUFFLE, 7);
    Files.delete(directory);
  }

  private LocalDirectories probe(RegistrationMode mode) {
    assumeThat(mode == RegistrationMode.AUTO && form().isEmpty())
        .as("by default, Sluice registers nothing on this kernel")
        .isFalse();
    try {
      return LocalDirectories.probe(serving.domain(), mode, List.of(directory));
    } catch (RegistrationUnavailableException e) {
      assertThat(mode).as(e.getMessage()).isEqualTo(RegistrationMode.ODP);
      return abort(e.getMessage());
    }
  }

  private MapOutputRegistry registry(LocalDirectories directories) {
    return registry(directories, 1 << 24);
  }

  private MapOutputRegistry registry(LocalDirectories directories, long maxBytes) {
    return new MapOutputRegistry(
        serving.domain(),
        directories,
        outputs::find,
        new RegistryLimits(maxBytes, 100, 1_000),
        new RecordingListener(),
        () -> 0);
  }

  private static MapOutputHeader resolve(MapOutputRegistry registry) throws Exception {
    MapOutputHeader location = ResolvedOutput.header(registry, SHUFFLE, 7);
    assertThat(location).isNotNull();
    return location;
  }

  private WorkCompletionStatus read(RemoteRegion remote) throws Exception {
    try (QueuePair responder = serving.newQueuePair(Set.of(AccessFlag.REMOTE_READ));
        QueuePair initiator = reading.newQueuePair(Set.of())) {
      Node.connect(responder, initiator.address());
      Node.connect(initiator, responder.address());
      reading.postRead(initiator, remote);
      return reading.awaitCompletion();
    }
  }

  @ParameterizedTest
  @EnumSource
  void mapOutputsAreReadAsTheyWereWritten(RegistrationMode mode) throws Exception {
    byte[] data = outputs.write(SHUFFLE, 7, PARTITIONS);
    try (MapOutputRegistry registry = registry(probe(mode))) {
      MapOutputHeader location = resolve(registry);

      assertThat(read(location.data())).isEqualTo(WorkCompletionStatus.SUCCESS);
      assertThat(reading.received(data.length)).isEqualTo(data);
      assertThat(read(registry.output(SHUFFLE, 7).location().segment().region()))
          .isEqualTo(WorkCompletionStatus.SUCCESS);
      RemoteRegion acrossPages =
          new RemoteRegion(location.data().address() + 1_000, 30_000, location.data().rkey());
      assertThat(read(acrossPages)).isEqualTo(WorkCompletionStatus.SUCCESS);
      assertThat(reading.received(30_000)).isEqualTo(Arrays.copyOfRange(data, 1_000, 31_000));
    }
    assertThat(outputs.data(SHUFFLE, 7)).hasBinaryContent(data);
  }

  @Test
  void pagesOnDemandThatAreGivenBackAreReadAgain() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 7, PARTITIONS);
    LocalDirectories directories = probe(RegistrationMode.ODP);
    try (MapOutputRegistry registry = registry(directories, 64 << 10)) {
      for (int time = 0; time < 5; time++) {
        reading.clear();
        assertThat(read(resolve(registry).data())).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(reading.received(data.length)).isEqualTo(data);
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (outputs.residentBytes(SHUFFLE, 7) > 0) {
          assertThat(System.nanoTime()).isLessThan(deadlineNs);
          Thread.sleep(10);
        }
      }
      assertThat(registry.counters().get(RegistryCounter.PAGES_GIVEN_BACK)).isGreaterThan(4);
    }
  }

  @Test
  void onDemandPagesAreResidentOnceTheyWereRead() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 7, PARTITIONS);
    LocalDirectories directories = probe(RegistrationMode.ODP);
    try (MapOutputRegistry registry = registry(directories, 1L << 40)) {
      MapOutputHeader location = resolve(registry);
      assertThat(outputs.residentBytes(SHUFFLE, 7)).isZero();
      assertThat(read(location.data())).isEqualTo(WorkCompletionStatus.SUCCESS);
      assertThat(outputs.residentBytes(SHUFFLE, 7)).isGreaterThanOrEqualTo(data.length);
    }
  }

  @Test
  void registeredMapOutputsAreMappedOrOpenFiles() throws Exception {
    outputs.write(SHUFFLE, 7, PARTITIONS);
    LocalDirectories directories = probe(RegistrationMode.AUTO);
    boolean isMapping = form().orElseThrow().isMapping();
    assertThat(outputs.openFiles()).isZero();
    try (MapOutputRegistry registry = registry(directories)) {
      resolve(registry);
      assertThat(outputs.mappings()).isEqualTo(isMapping ? 1 : 0);
      assertThat(outputs.openFiles()).isEqualTo(isMapping ? 0 : 2);
    }
    assertThat(outputs.openFiles()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void afterUnregisteringNothingIsRead(RegistrationMode mode) throws Exception {
    outputs.write(SHUFFLE, 7, PARTITIONS);
    try (MapOutputRegistry registry = registry(probe(mode))) {
      MapOutputHeader location = resolve(registry);
      registry.unregister(SHUFFLE);

      assertThat(read(location.data())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRegionOutlivesItsFilesName(RegistrationMode mode) throws Exception {
    byte[] data = outputs.write(SHUFFLE, 7, PARTITIONS);
    try (MapOutputRegistry registry = registry(probe(mode))) {
      MapOutputHeader location = resolve(registry);
      outputs.delete(SHUFFLE, 7);

      assertThat(read(location.data())).isEqualTo(WorkCompletionStatus.SUCCESS);
      assertThat(reading.received(data.length)).isEqualTo(data);
    }
  }

  @Test
  void filesThatRegisteringWouldDirtyAreStagedByDefault() throws Exception {
    outputs.write(SHUFFLE, 7, PARTITIONS);
    LocalDirectories directories =
        LocalDirectories.probe(serving.domain(), RegistrationMode.AUTO, List.of(directory));
    try (MapOutputRegistry registry = registry(directories)) {
      assertThat(resolve(registry).isStaged()).isEqualTo(form().isEmpty());
    }
  }

  @Test
  void registeringDirtiesNothing() throws Exception {
    outputs.write(SHUFFLE, 7, PARTITIONS);
    LocalDirectories directories = probe(RegistrationMode.AUTO);
    assertThat(form()).contains(directories.form(outputs.data(SHUFFLE, 7), 0));
    assumeThat(dirtyBytesAfterForce())
        .as("dirty bytes of a file in " + parent + " that was forced to disk")
        .isZero();
    try (MapOutputRegistry registry = registry(directories)) {
      resolve(registry);
      assertThat(outputs.dirtyBytes()).isZero();
    }
  }

  /** File systems in memory always report their pages as dirty. */
  private long dirtyBytesAfterForce() throws IOException {
    try (Arena arena = Arena.ofShared();
        FileChannel file =
            FileChannel.open(
                outputs.data(SHUFFLE, 7), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      file.force(true);
      file.map(MapMode.READ_ONLY, 0, file.size(), arena).load();
      return outputs.dirtyBytes();
    }
  }
}
