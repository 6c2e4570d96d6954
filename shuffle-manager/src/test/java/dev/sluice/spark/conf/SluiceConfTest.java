package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SluiceConfTest {
  private final SparkConf conf = new SparkConf(false);

  @Test
  void isWhatWasSetWhenItWasMade() {
    conf.set("spark.shuffle.rdma.provider", "soft").set("spark.shuffle.rdma.retryCount", "3");
    SluiceConf made = new SluiceConf(conf);
    conf.set("spark.shuffle.rdma.provider", "verbs");
    assertThat(made.provider()).isEqualTo("soft");
    assertThat(made.transferOptions().connection().retryCount()).isEqualTo(3);
  }

  @Test
  void limitsThatAreSetWinOverDerivedOnes() {
    conf.set("spark.shuffle.rdma.buffers.maxBytes", "5m")
        .set("spark.shuffle.rdma.registration.maxBytes", "7m");
    SluiceConf made = new SluiceConf(conf);
    assertThat(made.transferOptions().bufferPoolBytes()).isEqualTo(5 << 20);
    assertThat(made.registrationMaxBytes()).isEqualTo(7 << 20);
  }

  @ParameterizedTest
  @CsvSource({
    "false, false, false, false, false",
    "true,  false, false, false, true",
    "false, true,  false, false, true",
    "true,  true,  true,  false, false",
    "true,  false, false, true,  false"
  })
  void plainFilesAreNotReadWhereTheWireIsEncrypted(
      String crypto, String tls, String files, String allowed, boolean forbidden) {
    conf.set("spark.network.crypto.enabled", crypto)
        .set("spark.ssl.rpc.enabled", tls)
        .set("spark.io.encryption.enabled", files)
        .set("spark.shuffle.rdma.allowPlaintext", allowed);
    assertThat(new SluiceConf(conf).plaintextForbidden()).isEqualTo(forbidden);
    assertThat(new SluiceConf(conf).readOptions().wireEncryption()).isEqualTo(forbidden);
  }

  @Test
  void theOldFetchProtocolSwitchesReadingOff() {
    assertThat(new SluiceConf(conf).offReason()).isNull();
    conf.set("spark.shuffle.useOldFetchProtocol", "true");
    assertThat(new SluiceConf(conf).offReason()).contains("spark.shuffle.useOldFetchProtocol");
  }
}
