package dev.sluice.spark.verbs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * Marks a test that needs an RDMA device; it is skipped if there is none. The test bed runs the
 * tests that have the tag {@code rdma-device}.
 */
@Tag("rdma-device")
@EnabledIf(
    value = "dev.sluice.spark.verbs.RdmaResources#present",
    disabledReason = "there is no RDMA device: bin/with-verbs runs this test")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface NeedsRdmaDevice {}
