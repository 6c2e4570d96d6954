// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.ProcessName;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportResponseHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockServerHandlerTest {
  private static final ProcessName SELF = new ProcessName("app", "server");
  private final MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
  private final FakeAcceptor acceptor = new FakeAcceptor();
  private final BlockServerHandler handler =
      new BlockServerHandler(codec, SELF, "soft", acceptor, null, null);

  /** The end of a broken connection is noticed long after the peer has made another one. */
  @Test
  void aPeerThatConnectedAnewHasNotLeftWithItsOldConnection() throws Exception {
    TransportClient old = connect(7);
    TransportClient fresh = connect(8);

    handler.channelInactive(old);
    assertThat(acceptor.events).containsExactly("accepted reader 7", "accepted reader 8");

    handler.channelInactive(fresh);
    assertThat(acceptor.events).last().isEqualTo("left reader");
  }

  /** A device may take a second to connect a queue pair. */
  @Test
  void aPeerWhoseQueuePairIsBeingConnectedHasNotLeft() throws Exception {
    TransportClient old = connect(7);
    acceptor.connected = new CompletableFuture<>();
    TransportClient fresh = connect(8);

    handler.channelInactive(old);
    assertThat(acceptor.events).containsExactly("accepted reader 7", "accepted reader 8");

    handler.channelInactive(fresh);
    acceptor.connected.complete(null);
    assertThat(acceptor.events).endsWith("accepted reader 8", "left reader");
  }

  @Test
  void aPeerThatConnectsAnewWhileItLeavesIsAcceptedAfterwards() throws Exception {
    TransportClient old = connect(7);
    Thread anew = new Thread(new FutureTask<>(() -> connect(8)));
    acceptor.leaving =
        () -> {
          anew.start();
          while (anew.isAlive() && anew.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
          }
        };

    handler.channelInactive(old);
    anew.join();

    assertThat(acceptor.events)
        .containsExactly("accepted reader 7", "left reader", "accepted reader 8");
  }

  /** A reader that READs sends a message over a new connection, but asks for no queue pair. */
  @Test
  void aPeerThatSpeaksOverANewConnectionHasReturned() throws Exception {
    TransportClient old = connect(7);
    handler.channelInactive(old);
    assertThat(acceptor.returned).isEmpty();

    TransportClient fresh = client();
    say(fresh, SELF);
    say(fresh, SELF);
    assertThat(acceptor.returned).containsExactly("reader");
    handler.channelInactive(fresh);
    assertThat(acceptor.events).last().isEqualTo("left reader");
  }

  @Test
  void aMessageToAnotherProcessDoesNotBringAPeerBack() throws Exception {
    handler.channelInactive(connect(7));
    say(client(), new ProcessName("app", "gone"));
    assertThat(acceptor.returned).isEmpty();
  }

  /** It then fetches the blocks by Spark's own transfer. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "011d036170700673657276657206726561646572" // GetTables
            + "0100000003000027100100000000000000050000000700000009",
        "011d036170700673657276657206726561646572" // StageFor
            + "020137000000030000271001ffffffffffffffff000000000000000700000009"
      })
  void aQuestionOfVersion4Fails(String hex) {
    List<Throwable> failures = new ArrayList<>();
    RpcResponseCallback callback =
        new Unanswered() {
          @Override
          public void onFailure(Throwable failure) {
            failures.add(failure);
          }
        };
    handler.receive(client(), ByteBuffer.wrap(HexFormat.of().parseHex(hex)), callback);
    assertThat(failures).hasSize(1).first().isInstanceOf(MessageException.class);
  }

  private void say(TransportClient client, ProcessName addressee) throws Exception {
    Addressed message = new Addressed(addressee, "reader", new Released("reader", 6));
    handler.receive(client, ByteBuffer.wrap(codec.encode(message)));
  }

  private static TransportClient client() {
    EmbeddedChannel channel = new EmbeddedChannel();
    return new TransportClient(channel, new TransportResponseHandler(channel));
  }

  private TransportClient connect(int qpNumber) throws Exception {
    TransportClient client = client();
    byte[] request =
        codec.encode(new Connect(SELF, "reader", "soft", FakeAcceptor.queuePair(qpNumber)));
    handler.receive(client, ByteBuffer.wrap(request), new Unanswered());
    return client;
  }

  private static class Unanswered implements RpcResponseCallback {
    @Override
    public void onSuccess(ByteBuffer response) {}

    @Override
    public void onFailure(Throwable failure) {
      throw new AssertionError(failure);
    }
  }
}
