package dev.sluice.benchmarks.chaos.inject;

import dev.sluice.rdma.Device;
import dev.sluice.spark.SluiceShuffle;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DriverChannel;
import java.io.IOException;
import org.apache.spark.SparkEnv;

/** An executor's device and its way to the driver, with what disturbs them in front. */
final class ChaosOutside implements SluiceShuffle.Outside {
  private final ReadAudit audit = new ReadAudit();
  private ChaosAgent agent;
  private ControlProxy proxy;
  private volatile ChaosDevice device;

  /** Before tasks run. */
  void disturbedBy(ChaosAgent ordering) {
    agent = ordering;
    proxy = new ControlProxy(ordering);
  }

  ChaosAgent agent() {
    return agent;
  }

  ControlProxy proxy() {
    return proxy;
  }

  ReadAudit audit() {
    return audit;
  }

  /** Null before tasks run. */
  ChaosDevice device() {
    return device;
  }

  @Override
  public DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
    return new ChaosDriverChannel(
        SluiceShuffle.Outside.super.openDriverChannel(env, conf), agent, proxy);
  }

  @Override
  public Device openDevice(SluiceConf conf, String host) throws IOException {
    device = new ChaosDevice(SluiceShuffle.Outside.super.openDevice(conf, host), agent, audit);
    return device;
  }
}
