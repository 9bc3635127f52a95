package dev.troupe.run.cluster.tls;

import java.security.KeyManagementException;
import java.security.SecureRandom;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;

/** A TLS context that is created anew for each connection. Thread rule: any thread. */
final class RenewedContext extends SSLContext {
    RenewedContext(Supplier<SSLContext> present) {
        super(new Spi(present), null, "TLS");
    }

    private static final class Spi extends SSLContextSpi {
        private final Supplier<SSLContext> present;

        Spi(Supplier<SSLContext> present) {
            this.present = present;
        }

        @Override
        protected void engineInit(KeyManager[] keys, TrustManager[] trusted, SecureRandom random)
                throws KeyManagementException {
            throw new KeyManagementException("the context is made ready to use");
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            return present.get().createSSLEngine();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            return present.get().createSSLEngine(host, port);
        }

        @Override
        protected SSLParameters engineGetDefaultSSLParameters() {
            return present.get().getDefaultSSLParameters();
        }

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            return present.get().getSocketFactory();
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            return present.get().getServerSocketFactory();
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return present.get().getServerSessionContext();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return present.get().getClientSessionContext();
        }
    }
}
