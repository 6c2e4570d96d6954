// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.yarn.SluiceNodeService;
import java.io.DataInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.service.Service;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Behaviour of the service itself. */
final class SluiceNodeServiceTest {
  private static final int CLASS_FILE_OF_JAVA_8 = 52;

  @TempDir private Path directory;

  private final Configuration conf = new Configuration(false);
  private final SluiceNodeService service = new SluiceNodeService();

  private void init() throws Exception {
    Path program = Files.createDirectories(directory.resolve("bin")).resolve("sluice-node");
    Files.createFile(program);
    assertThat(program.toFile().setExecutable(true)).isTrue();
    conf.set("sluice.yarn.home", directory.toString());
    conf.setIfUnset("yarn.nodemanager.resource.memory-mb", "64");
    service.init(conf);
  }

  @Test
  void serviceClassesRunOnJava8() throws Exception {
    for (String name :
        new String[] {
          "SluiceNodeService",
          "DaemonProcess",
          "DirectoryThreads",
          "RegisteredMemory",
          "JobFolders",
          "JobShuffleHandler"
        }) {
      try (InputStream file = SluiceNodeService.class.getResourceAsStream(name + ".class");
          DataInputStream data = new DataInputStream(file)) {
        data.readInt();
        data.readUnsignedShort();
        assertThat(data.readUnsignedShort()).as(name).isEqualTo(CLASS_FILE_OF_JAVA_8);
      }
    }
  }

  @Test
  void withoutTheDaemonsFilesItDoesNotStart() {
    conf.set("sluice.yarn.home", directory.toString());
    assertThatThrownBy(() -> service.init(conf))
        .hasMessageContaining("sluice.yarn.home")
        .hasMessageContaining("which has no executable bin/sluice-node");
  }

  @Test
  void theNodeManagerStartsWhereContainersArePromisedAllMemory() throws Exception {
    conf.set("yarn.nodemanager.local-dirs", "/disk1/yarn");
    conf.set("yarn.nodemanager.resource.memory-mb", "1000000000");
    init();
    assertThat(service.isInState(Service.STATE.INITED)).isTrue();
  }

  @Test
  void theDaemonsFileMaySayHowMuchMemoryIsRegistered() throws Exception {
    Path file = directory.resolve("sluice-node.conf");
    Files.writeString(file, "sluice.node.registration.maxBytes = 1g\n");
    conf.set("sluice.yarn.conf", file.toString());
    conf.set("yarn.nodemanager.local-dirs", "/disk1/yarn");
    conf.set("yarn.nodemanager.resource.memory-mb", "1000000000");
    init();
  }

  /** The daemon reports the mistake. */
  @ParameterizedTest
  @ValueSource(strings = {"absent", "escape", "charset", "folder"})
  void theNodeManagerStartsWhereTheDaemonsFileCannotBeRead(String name) throws Exception {
    Files.write(directory.resolve("escape"), "key = \\u12".getBytes(StandardCharsets.US_ASCII));
    Files.write(directory.resolve("charset"), new byte[] {(byte) 0xff});
    Files.createDirectory(directory.resolve("folder"));
    conf.set("sluice.yarn.conf", directory + "/" + name);
    conf.set("yarn.nodemanager.local-dirs", "/disk1/yarn");
    init();
    assertThat(service.isInState(Service.STATE.INITED)).isTrue();
  }

  @Test
  void containersAreToldTheSocket() throws Exception {
    conf.set("yarn.nodemanager.local-dirs", "file:///disk1/yarn,/disk2/yarn");
    init();
    assertThat(StandardCharsets.UTF_8.decode(service.getMetaData()).toString())
        .isEqualTo("/disk1/yarn/sluice-node.sock");
  }

  @Test
  void theSocketIsInADirectoryThatCanBeWrittenTo() throws Exception {
    Path good = Files.createDirectory(directory.resolve("good"));
    conf.set("yarn.nodemanager.local-dirs", directory.resolve("bad") + "," + good);
    init();
    assertThat(StandardCharsets.UTF_8.decode(service.getMetaData()).toString())
        .isEqualTo(good.resolve("sluice-node.sock").toString());
  }

  @Test
  void anApplicationThatIsOverIsMarkedInEachDirectory() throws Exception {
    ApplicationId over = ApplicationId.newInstance(7, 1);
    conf.set("yarn.nodemanager.local-dirs", directory.resolve("1") + "," + directory.resolve("2"));
    for (String disk : new String[] {"1", "2"}) {
      for (String run : new String[] {over + "-a", over + "-b", over + "0-a"}) {
        Files.createDirectories(directory.resolve(disk).resolve(".sluice").resolve(run));
      }
    }
    init();
    service.stopApplication(new ApplicationTerminationContext(over));
    service.stop(); // waits for the directories

    for (String disk : new String[] {"1", "2"}) {
      Path folder = directory.resolve(disk).resolve(".sluice");
      assertThat(folder.resolve(over + "-a/.ended")).exists();
      assertThat(folder.resolve(over + "-b/.ended")).exists();
      assertThat(folder.resolve(over + "0-a/.ended")).doesNotExist();
    }
  }
}
