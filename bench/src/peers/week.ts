/**
 * The same calls as a competent team would write them in a week: Fastify, `pg`, one table, row locks and viem. As durable, as checked, and
 * without anything that took longer. Started by `startWeek`, which learns the port.
 */
import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyRequest } from 'fastify';
import pg from 'pg';
import { isAddressEqual, keccak256, recoverMessageAddress, toBytes } from 'viem';

const [connectionString = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 16 });
await pool.query(`
  CREATE TABLE IF NOT EXISTS requests (
    id uuid PRIMARY KEY, chain text NOT NULL, action text NOT NULL, signer text NOT NULL, status text NOT NULL,
    params jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    claimed_by text, tx_hash text, error_message text);
  CREATE INDEX IF NOT EXISTS pending ON requests (chain, created_at) WHERE status = 'pending';
  CREATE INDEX IF NOT EXISTS by_signer ON requests (signer, created_at);
  CREATE TABLE IF NOT EXISTS relayers (address text PRIMARY KEY, label text)`);

declare module 'fastify' {
  interface FastifyRequest {
    rawBody?: string;
    relayer?: string;
  }
}

const app = Fastify();
app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
  request.rawBody = String(body);
  try {
    done(null, JSON.parse(String(body)));
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
  }
});

/** Checks who calls. */
async function authenticate(request: FastifyRequest): Promise<void> {
  const {
    'x-relayer-address': address,
    'x-relayer-signature': signature,
    'x-relayer-timestamp': time,
  } = request.headers;
  const path = request.url.split('?')[0];
  const bodyHash = keccak256(toBytes(request.rawBody ?? ''));
  const message = `Service Relayer Auth\nTimestamp: ${time}\nMethod: ${request.method}\nPath: ${path}\nBody: ${bodyHash}`;
  const isLate = Math.abs(Date.now() - Number(time)) > 300_000;
  const refuse = () => Object.assign(new Error('not a relayer'), { statusCode: 401 });
  if (isLate || typeof address !== 'string' || typeof signature !== 'string') throw refuse();
  const recovered = await recoverMessageAddress({ message, signature: signature as `0x${string}` });
  if (!isAddressEqual(recovered, address as `0x${string}`)) throw refuse();
  const { rowCount } = await pool.query('SELECT 1 FROM relayers WHERE address = $1', [address.toLowerCase()]);
  if (rowCount === 0) throw refuse();
  request.relayer = address.toLowerCase();
}

const hex = { type: 'string', pattern: '^0x[0-9a-fA-F]*$' } as const;
const bodySchema = {
  type: 'object',
  required: ['chainName', 'action', 'params'],
  properties: {
    chainName: { type: 'string', minLength: 1, maxLength: 64 },
    action: { type: 'string' },
    params: { type: 'object', required: ['signer'], properties: { signer: hex } },
  },
} as const;

app.post<{ Body: { chainName: string; action: string; params: { signer: string } } }>(
  '/requests',
  { schema: { body: bodySchema } },
  async (request, reply) => {
    const { chainName, action, params } = request.body;
    const { rows } = await pool.query(
      `INSERT INTO requests (id, chain, action, signer, status, params) VALUES ($1, $2, $3, $4, 'pending', $5) RETURNING *`,
      [randomUUID(), chainName, action, params.signer.toLowerCase(), params],
    );
    return reply.status(201).send({ requestId: rows[0].id, ...rows[0] });
  },
);

app.get<{ Querystring: { chainName: string; limit?: number } }>(
  '/requests',
  { preHandler: authenticate },
  async ({ query: { chainName, limit = 20 } }) => {
    const { rows } = await pool.query(
      `SELECT * FROM requests WHERE chain = $1 AND status = 'pending' ORDER BY created_at LIMIT $2`,
      [chainName, limit],
    );
    return { items: rows, count: rows.length };
  },
);

app.patch<{ Params: { id: string }; Body: { status: string; txHash?: string; errorMessage?: string } }>(
  '/requests/:id',
  { preHandler: authenticate },
  async (request, reply) => {
    const { status, txHash = null, errorMessage = null } = request.body;
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const isClaim = status === 'processing';
      const { rows } = await client.query(
        isClaim
          ? `SELECT * FROM requests WHERE id = $1 AND status = 'pending' FOR UPDATE SKIP LOCKED`
          : `SELECT * FROM requests WHERE id = $1 AND status = 'processing' AND claimed_by = $2 FOR UPDATE`,
        isClaim ? [request.params.id] : [request.params.id, request.relayer],
      );
      if (rows.length === 0) {
        await client.query('ROLLBACK');
        return reply.status(409).send({ error: 'conflict' });
      }
      const updated = await client.query(
        `UPDATE requests SET status = $2, claimed_by = $3, tx_hash = $4, error_message = $5, updated_at = now()
         WHERE id = $1 RETURNING *`,
        [request.params.id, status, request.relayer, txHash, errorMessage],
      );
      await client.query('COMMIT');
      return updated.rows[0];
    } finally {
      client.release();
    }
  },
);

app.post<{ Body: { address: string; label?: string } }>('/admin/relayers', async (request, reply) => {
  const { address, label = null } = request.body;
  await pool.query('INSERT INTO relayers VALUES ($1, $2) ON CONFLICT DO NOTHING', [address.toLowerCase(), label]);
  return reply.status(201).send({ address });
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.(Number(new URL(url).port));
process.on('disconnect', () => process.exit(0));
