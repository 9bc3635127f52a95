package dev.troupe.run.cluster.tls;

import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.run.cluster.liveness.Sockets;
import dev.troupe.transport.tcp.Security;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;

/**
 * Mutual TLS by the rule of the control plane: a certificate must share authority and a subject or alternative name with the
 * node's own. The files are read for every connection, so that they can be renewed.
 */
public final class MutualTls implements Sockets, Security {
    private final TlsSpec files;

    public MutualTls(TlsSpec files) {
        this.files = files;
    }

    @Override
    public Socket dialed(Socket connection) throws IOException {
        SSLSocket socket = (SSLSocket) context().getSocketFactory().createSocket(connection,
                connection.getInetAddress().getHostAddress(), connection.getPort(), true);
        socket.setUseClientMode(true);
        return shake(socket);
    }

    @Override
    public Socket accepted(Socket connection) throws IOException {
        SSLSocket socket = (SSLSocket) context().getSocketFactory().createSocket(connection, (InputStream) null, true);
        socket.setUseClientMode(false);
        socket.setNeedClientAuth(true);
        return shake(socket);
    }

    @Override
    public SSLEngine engine(boolean isCaller) throws IOException {
        SSLEngine engine = context().createSSLEngine();
        engine.setUseClientMode(isCaller);
        engine.setNeedClientAuth(!isCaller);
        return engine;
    }

    private SSLContext context() throws IOException {
        try {
            return Certificates.context(files);
        } catch (UsageException unsound) {
            throw new IOException(unsound.getMessage(), unsound);
        }
    }

    private Socket shake(SSLSocket socket) throws IOException {
        socket.startHandshake();
        require(socket.getSession());
        return socket;
    }

    @Override
    public void require(SSLSession session) throws IOException {
        Certificate[] shown = session.getLocalCertificates();
        if (shown == null) {
            throw new SSLException("the other side trusts another authority than ours");
        }
        try {
            NamesInCommon.require((X509Certificate) shown[0],
                    (X509Certificate) session.getPeerCertificates()[0]);
        } catch (CertificateException unlike) {
            throw new SSLException(unlike.getMessage(), unlike);
        }
    }
}
