/** Tests of the comparison's figures. Import JUnit and the runtime. */
package dev.troupe.look.compare;
