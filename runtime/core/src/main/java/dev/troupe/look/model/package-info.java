/** A trained model in use: its loss over data, and the text that it continues. It needs one engine, and no plan. */
package dev.troupe.look.model;
