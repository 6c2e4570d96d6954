/** An auxiliary service of YARN's NodeManager, in Java 8 and with nothing beside Hadoop. */
package dev.sluice.yarn;
