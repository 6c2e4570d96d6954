package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Static rates of an address vector ({@code enum ibv_rate}). */
public enum IbvRate implements CConstant {
  RATE_MAX(0),
  RATE_2_5_GBPS(2),
  RATE_5_GBPS(5),
  RATE_10_GBPS(3),
  RATE_20_GBPS(6),
  RATE_30_GBPS(4),
  RATE_40_GBPS(7),
  RATE_60_GBPS(8),
  RATE_80_GBPS(9),
  RATE_120_GBPS(10),
  RATE_14_GBPS(11),
  RATE_56_GBPS(12),
  RATE_112_GBPS(13),
  RATE_168_GBPS(14),
  RATE_25_GBPS(15),
  RATE_100_GBPS(16),
  RATE_200_GBPS(17),
  RATE_300_GBPS(18),
  RATE_28_GBPS(19),
  RATE_50_GBPS(20),
  RATE_400_GBPS(21),
  RATE_600_GBPS(22),
  RATE_800_GBPS(23),
  RATE_1200_GBPS(24);

  private final int value;

  IbvRate(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
