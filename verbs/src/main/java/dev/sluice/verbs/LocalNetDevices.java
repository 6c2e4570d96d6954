// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The network devices of this process's network namespace with their addresses, to tell which GIDs
 * are local. The verbs provider's {@code PortReader} and the {@code LocalPort} of bin/verbs call
 * {@link #read} on any thread. They read anew with each GID table. Immutable; owns nothing.
 *
 * <p>The kernel names a GID's network device by its index or its name, and both may belong to
 * another namespace. A GID therefore counts as local only if the local device of that index or name
 * also has the GID's address.
 */
public record LocalNetDevices(Map<NetDevice, Set<InetAddress>> addresses) {
  private static final Pattern IPV6_ADDRESS =
      Pattern.compile("(?m)^(\\p{XDigit}{32}) (\\p{XDigit}+) ");

  /** Reads the devices and their addresses. Tests put a directory in the place of {@code /}. */
  public static LocalNetDevices read(Path root) throws VerbsException {
    // Java omits IPv6 addresses if java.net.preferIPv4Stack is set, and Hadoop's scripts set it.
    Map<Integer, Set<InetAddress>> ipv6 = ipv6Addresses(root.resolve("proc/self/net/if_inet6"));
    Map<NetDevice, Set<InetAddress>> addresses = new LinkedHashMap<>();
    try {
      for (NetworkInterface device : NetworkInterface.networkInterfaces().toList()) {
        Set<InetAddress> own = new HashSet<>(ipv6.getOrDefault(device.getIndex(), Set.of()));
        device.inetAddresses().forEach(own::add);
        device.subInterfaces().flatMap(NetworkInterface::inetAddresses).forEach(own::add);
        addresses.put(
            new NetDevice(device.getName(), device.getIndex(), hardwareAddress(device)), own);
      }
    } catch (SocketException e) {
      throw new VerbsException("listing network interfaces", VerbsException.EIO, e.toString());
    }
    return new LocalNetDevices(addresses);
  }

  /** Returns IPv6 addresses by index of their network device; none if the kernel lacks IPv6. */
  static Map<Integer, Set<InetAddress>> ipv6Addresses(Path table) {
    try {
      return IPV6_ADDRESS
          .matcher(Files.readString(table))
          .results()
          .collect(
              Collectors.groupingBy(
                  line -> Integer.parseInt(line.group(2), 16),
                  Collectors.mapping(
                      line -> IpLiteral.parse(line.group(1).replaceAll("(.{4})(?!$)", "$1:")),
                      Collectors.toSet())));
    } catch (IOException e) {
      return Map.of();
    }
  }

  private static String hardwareAddress(NetworkInterface device) {
    try {
      byte[] address = device.getHardwareAddress();
      return address == null ? "" : HexFormat.ofDelimiter(":").formatHex(address);
    } catch (SocketException e) {
      return ""; // device is gone: on the host's network, devices of other pods come and go
    }
  }

  public boolean contains(NetDevice device) {
    return addresses.containsKey(device);
  }

  /** Name of the device that has the address and meets the condition; empty if none does. */
  public Optional<String> withAddress(InetAddress address, Predicate<NetDevice> condition) {
    return addresses.entrySet().stream()
        .filter(entry -> condition.test(entry.getKey()) && entry.getValue().contains(address))
        .map(entry -> entry.getKey().name())
        .findFirst();
  }
}
