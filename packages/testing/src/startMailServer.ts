import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, as sent. */
  readonly raw: string;
  readonly isEncrypted: boolean;
  readonly user: string;
}

/** A running mail server. */
export interface MailServer extends AsyncDisposable {
  /** With user and password: `smtp://user:password@localhost:40123`. */
  readonly url: string;
  /** The certificate that it shows, in PEM. */
  readonly certificate: string;
  /** A file with the certificate, for `NODE_EXTRA_CA_CERTS`. */
  readonly certificateFile: string;
  readonly mails: readonly ReceivedMail[];
  /** Refuses the next `count` mails with a transient error. */
  refuseNext(count: number): void;
  /** Waits until `count` mails have arrived. */
  waitForMails(count: number): Promise<void>;
  close(): Promise<void>;
}

const USER = 'alerts';
const PASSWORD = 'mail-pass-of-the-rig';

function createCertificate(dir: string): { key: string; cert: string; file: string } {
  const [keyFile, file] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  execFileSync('openssl', ['req', '-x509', '-days', '2', '-out', file, ...key, ...subject], { stdio: 'ignore' });
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(file, 'utf8'), file };
}

/**
 * Starts an SMTP server on 127.0.0.1 that demands STARTTLS and a password, and keeps what arrives.
 *
 * @param onMail - called with each mail
 * @returns the running server
 */
export async function startMailServer(onMail: (mail: ReceivedMail) => void = () => undefined): Promise<MailServer> {
  // Loaded by those tests alone that send mail.
  const { SMTPServer } = await import('smtp-server');
  const dir = mkdtempSync(join(tmpdir(), 'mail-'));
  const { key, cert, file } = createCertificate(dir);
  const mails: ReceivedMail[] = [];
  const waiters = new Set<() => void>();
  let refusals = 0;
  const server = new SMTPServer({
    key,
    cert,
    authMethods: ['PLAIN', 'LOGIN'],
    // Neither is offered nor taken before STARTTLS.
    allowInsecureAuth: false,
    disableReverseLookup: true,
    onAuth({ username, password }, _, callback) {
      if (username === USER && password === PASSWORD) callback(null, { user: username });
      else callback(new Error('wrong user or password'));
    },
    onData(stream, session, callback) {
      text(stream).then((raw) => {
        if (refusals > 0) {
          refusals--;
          callback(Object.assign(new Error('try again later'), { responseCode: 451 }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        const mail: ReceivedMail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw,
          isEncrypted: session.secure,
          user: `${session.user}`,
        };
        mails.push(mail);
        onMail(mail);
        callback();
        for (const wake of waiters) wake();
      }, callback);
    },
  });
  // A client that goes away in the middle is no fault of the rig.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  const close = async () => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    rmSync(dir, { recursive: true, force: true });
  };
  return {
    url: `smtp://${USER}:${PASSWORD}@localhost:${address.port}`,
    certificate: cert,
    certificateFile: file,
    mails,
    refuseNext(count) {
      refusals = count;
    },
    waitForMails: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (mails.length < count) return;
          waiters.delete(look);
          resolve();
        };
        waiters.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
