/** A model and what it has learned: its loss over data, and the text that it continues. One engine, without a plan. */
package dev.troupe.look.model;
