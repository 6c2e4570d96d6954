// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether map outputs can be registered in a directory: registers a small file there as
 * they would be. This is more reliable than a table of kernels, devices and file systems. Costs a
 * few system calls a directory, and leaves no file or region behind. {@link LocalDirectories} calls
 * it at the start, {@link LocalDirectory} again on threads that open map outputs. It has no state,
 * so directories share it.
 *
 * <p>A refusal by the device or the file system is conclusive. A full disk, or a lack of memory or
 * descriptors, is not: the directory is probed again later ({@link LocalDirectory}).
 *
 * <p>Memory that the device pages on demand is READ, too, because a successful registration does
 * not prove that READs work. rdma_rxe of Linux 7.3 returns wrong bytes for a READ that does not
 * begin at a page boundary.
 */
final class RegistrationProbe {
  /** READs memory of the domain, as a peer would. */
  interface Reader {
    byte[] read(ProtectionDomain domain, RemoteRegion remote) throws IOException;
  }

  /**
   * Result of a probe.
   *
   * @param form null if the mode's form does not work: map outputs there are staged
   * @param isConclusive false if the form could not be tried
   */
  record Result(@Nullable RegistrationMethod form, boolean isConclusive) {}

  private static final Logger LOG = LoggerFactory.getLogger(RegistrationProbe.class);

  /** Room for {@link #READ_BYTES} from {@link #READ_OFFSET} on. */
  private static final int FILE_BYTES = 3 * PageSize.BYTES;

  /** Offset of a READ that begins and ends within pages, with a whole page between them. */
  private static final int READ_OFFSET = 1000;

  private static final int READ_BYTES = 2 * PageSize.BYTES;

  private final ProtectionDomain domain;
  private final Reader reader;
  private final Consumer<String> said;

  RegistrationProbe(ProtectionDomain domain, Reader reader) {
    this(domain, reader, LOG::info);
  }

  /**
   * @param said takes a line about each directory
   */
  RegistrationProbe(ProtectionDomain domain, Reader reader, Consumer<String> said) {
    this.domain = domain;
    this.reader = reader;
    this.said = said;
  }

  /**
   * Returns the mode's form if it works in the directory.
   *
   * @throws RegistrationUnavailableException if the mode requires its form, and the directory
   *     refuses it; the message has the reason
   */
  Result form(RegistrationMode mode, Path directory) throws RegistrationUnavailableException {
    RegistrationMethod form = RegistrationMethod.of(mode, domain.registersFiles());
    try {
      tryOut(form, directory);
    } catch (IOException e) {
      return refused(form, mode, directory, e);
    }
    said.accept(
        "Map outputs in %s are registered as %s (registration.mode is \"%s\")"
            .formatted(directory, form, mode));
    return new Result(form, true);
  }

  private Result refused(
      RegistrationMethod form, RegistrationMode mode, Path directory, IOException reason)
      throws RegistrationUnavailableException {
    boolean conclusive = isRefusal(reason);
    if (conclusive && mode.isRequired()) {
      throw new RegistrationUnavailableException(
          ("spark.shuffle.rdma.registration.mode is \"%s\", which does not work in %s: %s do not"
                  + " work there (%s)")
              .formatted(mode, directory, form, reason));
    }
    said.accept(
        ("Map outputs in %s are not registered but staged%s (registration.mode is \"%s\"): %s do"
                + " not work there (%s)")
            .formatted(
                directory,
                conclusive ? "" : " until registering can be tried again",
                mode,
                form,
                reason));
    return new Result(null, conclusive);
  }

  /** Returns true if it would fail again. Failures without type or errno count as temporary. */
  private static boolean isRefusal(IOException e) {
    return switch (e) {
      case VerbsException verbs ->
          verbs.errno() != VerbsException.ENOMEM
              && verbs.errno() != VerbsException.EAGAIN
              && verbs.errno() != VerbsException.EMFILE;
      case NoSuchFileException _, AccessDeniedException _, RegistrationUnavailableException _ ->
          true;
      default -> false;
    };
  }

  private void tryOut(RegistrationMethod form, Path directory) throws IOException {
    byte[] bytes = new byte[FILE_BYTES];
    new Random(FILE_BYTES).nextBytes(bytes);
    Path file = Files.createTempFile(directory, LocalDirectories.PROBE, ".data");
    try (Arena arena = Arena.ofShared()) {
      Files.write(file, bytes);
      try (DataFile data = DataFile.open(file, FILE_BYTES, form);
          MapOutputData registered = register(data, arena)) {
        if (form == RegistrationMethod.ON_DEMAND_MAPPING) {
          checkRead(registered.remote(), bytes);
        }
      }
    } finally {
      Files.delete(file);
    }
  }

  private MapOutputData register(DataFile data, Arena arena) throws IOException {
    return data.isMapping() ? data.register(domain, data.map(arena)) : data.register(domain);
  }

  private void checkRead(RemoteRegion data, byte[] bytes) throws IOException {
    RemoteRegion remote = new RemoteRegion(data.address() + READ_OFFSET, READ_BYTES, data.rkey());
    byte[] read = reader.read(domain, remote);
    if (!Arrays.equals(read, 0, READ_BYTES, bytes, READ_OFFSET, READ_OFFSET + READ_BYTES)) {
      throw new RegistrationUnavailableException("a READ returned other bytes than the file has");
    }
  }
}
