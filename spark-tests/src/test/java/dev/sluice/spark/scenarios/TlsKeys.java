// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * A key and its self-signed certificate for Spark's RPC by TLS. The JDK's keytool makes them in a
 * folder of the test, which deletes it.
 */
final class TlsKeys {
  private static final String PASSWORD = "only for this test";
  private static final String ALIAS = "spark";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final Path keyStore;

  private TlsKeys(Path keyStore) {
    this.keyStore = keyStore;
  }

  static TlsKeys create(Path folder) throws IOException, InterruptedException {
    Path keyStore = folder.resolve("keys.p12");
    Path output = folder.resolve("keytool.log");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                ALIAS,
                "-keyalg",
                "EC",
                "-dname",
                "CN=sluice",
                "-keystore",
                keyStore.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    if (!keytool.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS) || keytool.exitValue() != 0) {
      keytool.destroyForcibly();
      throw new IllegalStateException("keytool failed: " + Files.readString(output));
    }
    return new TlsKeys(keyStore);
  }

  /**
   * Spark's settings as alternating keys and values: the key, and trust in its certificate alone.
   */
  String[] settings() {
    return new String[] {
      "spark.ssl.rpc.enabled",
      "true",
      "spark.ssl.rpc.protocol",
      "TLSv1.3",
      "spark.ssl.rpc.keyStore",
      keyStore.toString(),
      "spark.ssl.rpc.keyStorePassword",
      PASSWORD,
      "spark.ssl.rpc.keyPassword",
      PASSWORD,
      "spark.ssl.rpc.trustStore",
      keyStore.toString(),
      "spark.ssl.rpc.trustStorePassword",
      PASSWORD
    };
  }

  Certificate certificate() throws GeneralSecurityException, IOException {
    return load().getCertificate(ALIAS);
  }

  /** The certificate that a server shows in a handshake. */
  Certificate shownBy(InetAddress host, int port) throws GeneralSecurityException, IOException {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(load());
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(null, trust.getTrustManagers(), null);
    try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(host, port)) {
      socket.setSoTimeout((int) TIMEOUT.toMillis());
      socket.startHandshake();
      return socket.getSession().getPeerCertificates()[0];
    }
  }

  private KeyStore load() throws GeneralSecurityException, IOException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keyStore)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }
}
