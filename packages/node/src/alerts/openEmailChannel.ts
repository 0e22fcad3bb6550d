import type { Transporter } from 'nodemailer';
import type { AlertChannel } from './alert.ts';

/** Where mails go, and through which server. */
interface EmailOptions {
  /** `smtp://user:password@host:port` (STARTTLS) or `smtps://…`. */
  readonly smtpUrl: string;
  readonly from: string;
  /** One address, or several with commas between. */
  readonly to: string;
  /** Certificates that are trusted, in PEM; default those of Node.js. */
  readonly certificates?: string;
}

/** Ports of mail servers, if the URL has none. */
const DEFAULT_PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

/** @throws Error once the signal is aborted */
function rejectAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => reject(new Error('the mail server did not take the mail in time'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

function describeServer(options: EmailOptions, url: URL) {
  const isSecure = url.protocol === 'smtps:';
  const hasUser = url.username !== '';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORTS[isSecure ? 'smtps:' : 'smtp:'] : Number(url.port),
    secure: isSecure,
    requireTLS: !isSecure && hasUser,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(hasUser ? { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } } : {}),
    ...(options.certificates === undefined ? {} : { tls: { ca: options.certificates } }),
  };
}

/**
 * Opens the way to people's mailboxes. A password never goes over a line that is not encrypted.
 *
 * @see RFC 3207, STARTTLS
 */
export function openEmailChannel(options: EmailOptions): AlertChannel {
  const url = new URL(options.smtpUrl);
  const server = describeServer(options, url);
  let transport: Transporter | undefined;
  return {
    name: 'e-mail',
    async deliver({ subject, text, severity }, signal) {
      // Most processes never send a mail: without its 40 modules they start sooner.
      const { createTransport } = await import('nodemailer');
      transport ??= createTransport(server);
      const { from, to } = options;
      const sent = transport.sendMail({ from, to, subject: `[${severity}] ${subject}`, text, disableFileAccess: true });
      // A server that says a word now and then keeps within each limit above, and never comes to an end.
      await Promise.race([sent, rejectAborted(signal)]);
    },
    close: () => transport?.close(),
  };
}
