import { createServer } from 'node:http';
import { type LoopbackServer, listenOnLoopback } from '@prism-gateway/testing';

/** Starts a stand-in for Secrets Manager that knows some secrets by ARN. */
export async function startKeeper(secrets: Readonly<Record<string, string>>): Promise<LoopbackServer> {
  return await listenOnLoopback(
    createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = await incoming.toArray();
      // The only call it takes.
      const { SecretId = '' } = JSON.parse(Buffer.concat(chunks).toString()) as { SecretId?: string };
      const SecretString = secrets[SecretId];
      if (SecretString === undefined) outgoing.writeHead(400).end('{"__type":"ResourceNotFoundException"}');
      else outgoing.end(JSON.stringify({ SecretString }));
    }),
  );
}
