// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Compares devices, their ports and their tables with sysfs. */
@NeedsRdmaDevice
class IbvDeviceTest extends IbvTestCase {
  private static final int DEFAULT_PKEY = 0xffff;

  private String sysfs(String file) throws Exception {
    return Files.readString(Path.of(context.device().sysfsPath(), file)).strip();
  }

  @Test
  void allDevicesOfTheKernelAreListed() throws Exception {
    String[] inSysfs = Path.of("/sys/class/infiniband").toFile().list();
    try (IbvDeviceList list = IbvDeviceList.get()) {
      assertThat(list.devices()).extracting(IbvDevice::name).containsExactlyInAnyOrder(inSysfs);
      assertThat(list.find(inSysfs[0])).isPresent();
      assertThat(list.find("no such device")).isEmpty();
    }
  }

  @Test
  void aDeviceIsNamedAsInSysfs() throws Exception {
    IbvDevice device = context.device();

    assertThat(device.sysfsPath()).endsWith("/infiniband/" + device.name());
    assertThat(Path.of("/dev/infiniband", device.uverbsName())).exists();
    assertThat(device.index()).isNotNegative();
    assertThat(device.nodeType()).isEqualTo(CValue.of(IbvDevice.NodeType.CA));
    assertThat(sysfs("node_type")).isEqualTo("1: CA");
    assertThat(device.nodeTypeText()).isEqualTo("InfiniBand channel adapter");
    assertThat(device.transportType()).isEqualTo(CValue.of(IbvDevice.TransportType.IB));
    assertThat(guid(device.guid())).isEqualTo(sysfs("node_guid"));
    assertThat(device).hasToString(device.name());
  }

  private static String guid(long guid) {
    return "%04x:%04x:%04x:%04x"
        .formatted(guid >>> 48, guid >>> 32 & 0xffff, guid >>> 16 & 0xffff, guid & 0xffff);
  }

  @Test
  void manyContextsOfADeviceAreOpenedAndOutliveTheList() throws Exception {
    IbvContext first;
    IbvContext second;
    try (IbvDeviceList list = IbvDeviceList.get()) {
      first = list.devices().getFirst().open();
      second = list.devices().getFirst().open();
    }
    try (first;
        second) {
      assertThat(second.device().name()).isEqualTo(first.device().name());
      assertThat(first.queryDevice().maxQp()).isPositive();
      assertThat(first.asyncFd()).isNotEqualTo(second.asyncFd());
    }
  }

  @Test
  void aClosedContextRefusesItsUse() throws Exception {
    IbvContext closed;
    try (IbvDeviceList list = IbvDeviceList.get()) {
      closed = list.devices().getFirst().open();
    }
    closed.close();
    closed.close();

    assertRefused(EINVAL, closed::queryDevice);
    assertRefused(EINVAL, closed::allocPd);
  }

  @Test
  void theDevicesLimitsAreQueried() throws Exception {
    IbvDeviceAttr attr = context.queryDevice();

    assertThat(guid(Long.reverseBytes(attr.get("orig_attr.node_guid"))))
        .isEqualTo(sysfs("node_guid"));
    assertThat(guid(Long.reverseBytes(attr.get("orig_attr.sys_image_guid"))))
        .isEqualTo(sysfs("sys_image_guid"));
    assertThat(attr.physPortCnt()).isPositive();
    assertThat(attr.maxQp()).isPositive();
    assertThat(attr.maxQpWr()).isPositive();
    assertThat(attr.get("orig_attr.max_sge")).isPositive();
    assertThat(attr.get("orig_attr.max_cq")).isPositive();
    assertThat(attr.maxCqe()).isPositive();
    assertThat(attr.get("orig_attr.max_mr")).isPositive();
    assertThat(attr.get("orig_attr.max_mr_size")).isNotZero();
    assertThat(attr.get("orig_attr.max_pd")).isPositive();
    assertThat(attr.get("orig_attr.max_pkeys")).isPositive();
    assertThat(attr.maxQpRdAtom()).isPositive();
    assertThat(attr.get("orig_attr.page_size_cap") & PAGE_BYTES).isNotZero();
    assertThat(attr.atomicCap().known()).isPresent();
  }

  @Test
  void everyPortIsQueried() throws Exception {
    for (int port = 1; port <= context.queryDevice().physPortCnt(); port++) {
      IbvPortAttr attr = context.queryPort(port);
      String ports = "ports/" + port + "/";

      assertThat(sysfs(ports + "state")).startsWith(attr.state().number() + ": ");
      assertThat(attr.stateText()).isEqualToIgnoringCase(attr.state().toString());
      assertThat(sysfs(ports + "link_layer")).isEqualToIgnoringCase(attr.linkLayer().toString());
      assertThat(sysfs(ports + "phys_state")).startsWith(attr.get("phys_state") + ": ");
      assertThat(Integer.decode(sysfs(ports + "lid"))).isEqualTo(attr.lid());
      assertThat(attr.activeMtu().number()).isBetween(1, attr.maxMtu().number());
      assertThat(attr.maxMsgSz()).isNotZero();
      assertThat(attr.gidTblLen()).isPositive();
      assertThat(attr.pkeyTblLen()).isPositive();
      assertThat(attr.get("active_width")).isPositive();
      assertThat(attr.get("active_speed")).isPositive();
    }
  }

  @Test
  void aPortThatDoesNotExistIsRefused() throws Exception {
    int beyond = context.queryDevice().physPortCnt() + 1;

    assertRefused(EINVAL, () -> context.queryPort(beyond));
    assertRefused(EINVAL, () -> context.queryGidEntry(beyond, 0));
  }

  /** rdma-core before 62 lacks the function, and some drivers the operation. */
  @Test
  void thePortsSpeedIsQueriedWhereLibraryAndDriverHaveIt() throws Exception {
    try {
      assertThat(context.queryPortSpeed(PORT)).isPositive();
    } catch (VerbsException e) {
      assertThat(e.errno()).isIn(VerbsException.ENOSYS, VerbsException.EOPNOTSUPP);
    }
  }

  @Test
  void ratesAreConvertedByTheLibrary() throws Exception {
    assertThat(IbvAhAttr.Rate.RATE_100_GBPS.mbps()).isEqualTo(103125);
    assertThat(IbvAhAttr.Rate.RATE_10_GBPS.mult()).isEqualTo(4);
    assertThat(IbvAhAttr.Rate.ofMbps(10_000)).isEqualTo(CValue.of(IbvAhAttr.Rate.RATE_10_GBPS));
    assertThat(IbvAhAttr.Rate.ofMult(12)).isEqualTo(CValue.of(IbvAhAttr.Rate.RATE_30_GBPS));
  }

  @Test
  void thePartitionKeysAreThoseOfSysfs() throws Exception {
    for (int index = 0; index < context.queryPort(PORT).pkeyTblLen(); index++) {
      assertThat(context.queryPkey(PORT, index))
          .isEqualTo(Integer.decode(sysfs("ports/" + PORT + "/pkeys/" + index)));
    }
    assertThat(context.queryPkey(PORT, 0)).isEqualTo(DEFAULT_PKEY);
    assertThat(context.getPkeyIndex(PORT, DEFAULT_PKEY)).isZero();
    assertThatThrownBy(() -> context.getPkeyIndex(PORT, 0x7abc)).isInstanceOf(VerbsException.class);
  }

  @Test
  void theGidTableAgreesWithItsEntriesAndWithSysfs() throws Exception {
    List<IbvGidEntry> table = context.queryGidTable(1024);

    assertThat(table).isNotEmpty();
    for (IbvGidEntry entry : table) {
      assertThat(context.queryGidEntry(entry.port(), entry.index())).contains(entry);
      assertThat(context.queryGid(entry.port(), entry.index())).isEqualTo(entry.gid());
      assertThat(sysfs("ports/" + entry.port() + "/gids/" + entry.index()).replace(":", ""))
          .isEqualTo("%016x%016x".formatted(entry.gid().subnetPrefix(), entry.gid().interfaceId()));
    }
  }

  @Test
  void atLeastOneGidIsOfTheLinksKind() throws Exception {
    assertThat(context.queryGidTable(1024))
        .extracting(IbvGidEntry::type)
        .contains(CValue.of(isRoce() ? IbvGidEntry.Type.ROCE_V2 : IbvGidEntry.Type.IB));
  }

  @Test
  void aGidTableThatDoesNotFitIsRefused() throws Exception {
    int entries = context.queryGidTable(1024).size();

    assertThat(context.queryGidTable(entries)).hasSize(entries);
    assertRefused(EINVAL, () -> context.queryGidTable(entries - 1));
  }

  @Test
  void anEmptyIndexOfTheGidTableHasNoEntry() throws Exception {
    int last = context.queryPort(PORT).gidTblLen() - 1;

    assertThat(context.queryGidEntry(PORT, last)).isEmpty();
    assertThat(context.queryGid(PORT, last)).isEqualTo(new Gid(0, 0));
  }

  @Test
  void anIndexBehindTheGidTableIsRefused() throws Exception {
    int length = context.queryPort(PORT).gidTblLen();

    assertRefused(EINVAL, () -> context.queryGidEntry(PORT, length));
  }
}
