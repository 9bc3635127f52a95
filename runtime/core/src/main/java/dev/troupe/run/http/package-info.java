/** The HTTP server of a process: paths, their answers, and streams of events. */
package dev.troupe.run.http;
