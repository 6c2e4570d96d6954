// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

/**
 * A network device. Name and index are unique only within a network namespace. Devices of two
 * namespaces may share name and index, but then their hardware addresses differ. {@link
 * LocalNetDevices} and readers of sysfs create it in the same form, since equality tells whether a
 * device is local. Immutable.
 *
 * @param name such as {@code eth0}
 * @param index the kernel's number of the device
 * @param hardwareAddress first six bytes, in the notation of sysfs; empty if the device has none
 */
public record NetDevice(String name, int index, String hardwareAddress) {
  private static final String NONE = "00:00:00:00:00:00";

  /** Accepts a whole hardware address and keeps six bytes; IP over InfiniBand has 20 bytes. */
  public NetDevice {
    hardwareAddress =
        hardwareAddress.substring(0, Math.min(hardwareAddress.length(), NONE.length()));
    if (hardwareAddress.equals(NONE)) {
      hardwareAddress = "";
    }
  }
}
