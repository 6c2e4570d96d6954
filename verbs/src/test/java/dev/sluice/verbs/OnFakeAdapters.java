// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import dev.sluice.verbs.ffi.NeedsCHeader;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks tests that run on {@link FakeAdapters}. The build runs them in a JVM in which no other test
 * has loaded the real libibverbs.
 */
@Tag("fake-adapters")
@NeedsCHeader("infiniband/verbs.h")
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface OnFakeAdapters {}
