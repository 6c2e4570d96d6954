// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static dev.sluice.blocks.TwoDisks.FAST;
import static dev.sluice.blocks.TwoDisks.SHUFFLE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.TwoDisks;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Connected;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.Notice;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.ControlMessages.Question;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.StageFor;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.ControlMessages.Tables;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.ProcessName;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportResponseHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Executors of the previous version name no process in their messages to a node. */
class MessagesOfVersion3Test {
  private static final ProcessName SELF = new ProcessName("app", "node-a");

  @TempDir Path slowDirectory;
  @TempDir Path fastDirectory;
  private final MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
  private final FakeAcceptor acceptor = new FakeAcceptor();
  private final TransportClient client = client();
  private TwoDisks disks;
  private TableServer tables;
  private Stager stager;
  private BlockServerHandler handler;

  @BeforeEach
  void open() throws Exception {
    disks = new TwoDisks(slowDirectory, new int[] {10}, fastDirectory, new int[] {10, 20});
    tables = new TableServer(disks.registry);
    stager = new Stager(disks.domain, disks.registry, 4 << 20, 2, System::nanoTime);
    handler = new BlockServerHandler(codec, SELF, "soft", acceptor, disks.registry, stager, tables);
  }

  @AfterEach
  void close() {
    tables.close();
    stager.close();
    disks.close();
  }

  private static TransportClient client() {
    EmbeddedChannel channel = new EmbeddedChannel();
    return new TransportClient(channel, new TransportResponseHandler(channel));
  }

  private Object ask(Question question) throws Exception {
    return ask(client, question);
  }

  private Object ask(TransportClient client, Object message) throws Exception {
    CompletableFuture<ByteBuffer> answer = new CompletableFuture<>();
    handler.receive(
        client,
        ByteBuffer.wrap(codec.encode(message)),
        new RpcResponseCallback() {
          @Override
          public void onSuccess(ByteBuffer response) {
            answer.complete(response);
          }

          @Override
          public void onFailure(Throwable failure) {
            answer.completeExceptionally(failure);
          }
        });
    return codec.decode(answer.get(10, TimeUnit.SECONDS));
  }

  @Test
  void questionsAreAnswered() throws Exception {
    assertThat(ask(new Resolve(SHUFFLE, new long[] {FAST}))).isInstanceOf(Resolved.class);
    assertThat(ask(new GetTables(SHUFFLE, 10_000, List.of(new Partitions(FAST, 0, 1)))))
        .isInstanceOf(Tables.class);
    Stage stage = new Stage(SHUFFLE, 10_000, List.of(new Piece(FAST, 0, 10)));
    assertThat(ask(new StageFor("7", stage))).isInstanceOf(Staged.class);
  }

  @Test
  void noticesAreTaken() throws Exception {
    tell(client, new Released("7", 9));
    assertThat(acceptor.events).containsExactly("disconnected 7 9");
  }

  private void tell(TransportClient client, Notice notice) throws Exception {
    handler.receive(client, ByteBuffer.wrap(codec.encode(notice)));
  }

  /** Connects a peer of version 3, which resolves before or after it connects. */
  private TransportClient connect(String peerId, boolean resolvesFirst) throws Exception {
    TransportClient connection = client();
    Resolve resolve = new Resolve(SHUFFLE, new long[] {FAST});
    if (resolvesFirst) {
      ask(connection, resolve);
    }
    assertThat(ask(connection, new Connect(SELF, peerId, "soft", FakeAcceptor.queuePair(8))))
        .isInstanceOf(Connected.class);
    if (!resolvesFirst) {
      ask(connection, resolve);
    }
    acceptor.events.clear();
    acceptor.returned.clear();
    return connection;
  }

  @Test
  void aPeerThatStagesOverANewConnectionHasReturned() throws Exception {
    handler.channelInactive(connect("7", true));
    assertThat(acceptor.events).containsExactly("left 7");
    Stage stage = new Stage(SHUFFLE, 10_000, List.of(new Piece(FAST, 0, 10)));
    ask(client, new StageFor("7", stage));
    assertThat(acceptor.returned).containsExactly("7");
    acceptor.events.clear();
    handler.channelInactive(client);
    assertThat(acceptor.events).containsExactly("left 7");
  }

  @Test
  void aPeerThatReleasesOverANewConnectionHasReturned() throws Exception {
    handler.channelInactive(connect("7", true));
    tell(client, new Released("7", 9));
    assertThat(acceptor.returned).containsExactly("7");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noPeerIsGoneWhileAnUnnamedConnectionIsOpen(boolean resolvesFirst) throws Exception {
    TransportClient old = connect("7", resolvesFirst);
    TransportClient other = connect("8", resolvesFirst);
    handler.channelInactive(old);
    assertThat(acceptor.events).containsExactly("left 7");
    acceptor.events.clear();

    tell(client, new Touch(SHUFFLE));
    assertThat(acceptor.returned).containsExactly("7");
    handler.channelInactive(other);
    assertThat(acceptor.events).isEmpty();

    handler.channelInactive(client);
    assertThat(acceptor.events).containsExactlyInAnyOrder("left 7", "left 8");
  }

  @Test
  void othersAreGoneOnceTheConnectionIsNamed() throws Exception {
    TransportClient old = connect("7", true);
    TransportClient other = connect("8", true);
    tell(client, new Touch(SHUFFLE));
    handler.channelInactive(old);
    handler.channelInactive(other);
    assertThat(acceptor.events).isEmpty();
    tell(client, new Released("7", 9));
    assertThat(acceptor.events).containsExactlyInAnyOrder("left 8", "disconnected 7 9");
  }

  @Test
  void aPeerOfThisVersionIsGoneAllTheSame() throws Exception {
    tell(client, new Touch(SHUFFLE));
    TransportClient connection = client();
    Addressed touch = new Addressed(SELF, "9", new Touch(SHUFFLE));
    handler.receive(connection, ByteBuffer.wrap(codec.encode(touch)));
    handler.channelInactive(connection);
    assertThat(acceptor.events).containsExactly("left 9");
  }
}
