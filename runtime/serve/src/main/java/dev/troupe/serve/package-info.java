/** A model as an HTTP service with the paths of OpenAI: requests, answers, streams of events, and the server. */
package dev.troupe.serve;
