// SPDX-License-Identifier: Apache-2.0
package dev.sluice.yarn;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Computes how much memory the daemon may register: a part of the memory that YARN does not promise
 * to containers. With verbs, registered memory is pinned and counts against no container.
 * Immutable; {@link SluiceNodeService} asks once, when the NodeManager initializes it.
 */
public final class RegisteredMemory {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredMemory.class);
  static final String SETTING = "sluice.node.registration.maxBytes";
  private static final String PROVIDER = "sluice.node.provider";
  private static final String CONTAINERS = "yarn.nodemanager.resource.memory-mb";
  private static final String DETECTION = "yarn.nodemanager.resource.detect-hardware-capabilities";

  /**
   * Default of yarn.nodemanager.resource.memory-mb. Applies if the key is -1 and YARN does not
   * detect the hardware.
   */
  private static final long CONTAINERS_DEFAULT_MB = 8192;

  /** The same limit as the daemon's own default. */
  private static final long MAX_MB = 4096;

  /** Minimum for the operating system, the NodeManager and the daemon's own heap. */
  private static final long MIN_REST_MB = 512;

  private static final Pattern TOTAL = Pattern.compile("(?m)^MemTotal: +(\\d+) kB$");

  private final Path meminfo;

  /**
   * @param meminfo path of /proc/meminfo
   */
  public RegisteredMemory(Path meminfo) {
    this.meminfo = meminfo;
  }

  /**
   * Returns a setting for the daemon: half of the memory that is not YARN's, at most 4 GiB. If that
   * memory is unknown, it only logs a warning: many nodes pin nothing, so the NodeManager still
   * starts.
   *
   * @param daemon settings of the daemon's file
   * @return empty if the file has the setting, nothing is pinned, or the memory is unknown
   */
  public Optional<String> setting(Configuration conf, Properties daemon) {
    boolean isSaid = !daemon.getProperty(SETTING, "").trim().isEmpty();
    if (isSaid || daemon.getProperty(PROVIDER, "").trim().equals("soft")) {
      return Optional.empty();
    }
    try {
      return Optional.of(SETTING + "=" + Math.min(MAX_MB, restMb(conf) / 2) + "m");
    } catch (UnknownMemoryException e) {
      LOG.warn(
          "Cannot compute the memory that containers leave to the node daemon: {}. With verbs, the"
              + " daemon pins up to a quarter of the memory that is free when it starts, at most 4"
              + " GiB. Set {} in the file that sluice.yarn.conf names, or set {}=soft, which pins"
              + " nothing",
          e.getMessage(),
          SETTING,
          PROVIDER);
      return Optional.empty();
    }
  }

  /** Returns the part of the machine's memory that is not promised to containers. */
  private long restMb(Configuration conf) throws UnknownMemoryException {
    long totalMb = totalMb();
    long restMb = totalMb - containersMb(conf);
    if (restMb < MIN_REST_MB) {
      throw new UnknownMemoryException(
          String.format(
              "%s leaves %d of the machine's %d MiB, but %d MiB are needed",
              CONTAINERS, restMb, totalMb, MIN_REST_MB));
    }
    return restMb;
  }

  private static long containersMb(Configuration conf) throws UnknownMemoryException {
    long configuredMb = conf.getLong(CONTAINERS, -1);
    if (configuredMb >= 0) {
      return configuredMb;
    }
    if (conf.getBoolean(DETECTION, false)) {
      throw new UnknownMemoryException(CONTAINERS + " is detected by YARN (" + DETECTION + ")");
    }
    return CONTAINERS_DEFAULT_MB;
  }

  private long totalMb() throws UnknownMemoryException {
    try {
      String text = new String(Files.readAllBytes(meminfo), StandardCharsets.US_ASCII);
      Matcher total = TOTAL.matcher(text);
      if (total.find()) {
        return Long.parseLong(total.group(1)) >> 10;
      }
    } catch (IOException e) {
      throw new UnknownMemoryException(meminfo + " cannot be read: " + e);
    }
    throw new UnknownMemoryException(meminfo + " has no MemTotal");
  }

  /** Thrown when the memory cannot be computed; the message gives the reason. */
  private static final class UnknownMemoryException extends Exception {
    private static final long serialVersionUID = 1;

    UnknownMemoryException(String reason) {
      super(reason);
    }
  }
}
