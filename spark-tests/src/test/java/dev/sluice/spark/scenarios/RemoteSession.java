// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.util.Iterator;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.spark.connect.proto.Command;
import org.apache.spark.connect.proto.ExecutePlanRequest;
import org.apache.spark.connect.proto.ExecutePlanResponse;
import org.apache.spark.connect.proto.Plan;
import org.apache.spark.connect.proto.Relation;
import org.apache.spark.connect.proto.SQL;
import org.apache.spark.connect.proto.SparkConnectServiceGrpc;
import org.apache.spark.connect.proto.SqlCommand;
import org.apache.spark.connect.proto.UserContext;
import org.sparkproject.connect.grpc.ManagedChannel;
import org.sparkproject.connect.grpc.ManagedChannelBuilder;

/** A client of Spark Connect, in as few messages as it takes. */
final class RemoteSession {
  private static final long TIMEOUT_SECONDS = 120;

  private RemoteSession() {}

  /** Runs an SQL command in a session of its own, and waits for its end. */
  static void run(int port, String sql) {
    ManagedChannel channel =
        ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    try {
      Iterator<ExecutePlanResponse> responses =
          SparkConnectServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(TIMEOUT_SECONDS, TimeUnit.SECONDS)
              .executePlan(request(sql));
      responses.forEachRemaining(response -> {});
    } finally {
      channel.shutdownNow();
    }
  }

  private static ExecutePlanRequest request(String sql) {
    Relation query = Relation.newBuilder().setSql(SQL.newBuilder().setQuery(sql)).build();
    Command command =
        Command.newBuilder().setSqlCommand(SqlCommand.newBuilder().setInput(query)).build();
    return ExecutePlanRequest.newBuilder()
        .setSessionId(UUID.randomUUID().toString())
        .setUserContext(UserContext.newBuilder().setUserId("somebody"))
        .setPlan(Plan.newBuilder().setCommand(command))
        .build();
  }
}
