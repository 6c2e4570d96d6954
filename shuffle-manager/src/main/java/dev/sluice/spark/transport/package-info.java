/** What reading needs of the transfer engine, and why blocks go another way. */
package dev.sluice.spark.transport;
