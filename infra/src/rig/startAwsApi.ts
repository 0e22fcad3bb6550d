import { createServer, type IncomingMessage } from 'node:http';
import { type LoopbackServer, listenOnLoopback } from '@prism-gateway/testing';

/** The state of the account. */
export interface AccountFacts {
  readonly bootstrapVersion?: string;
  readonly limit: number;
  readonly unreserved: number;
  /** Reserved by the gateway's function; undefined: there is no such function. */
  readonly own?: number;
  readonly tables: readonly string[];
  /** Status by name. */
  readonly stacks: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const json = (value: unknown): Answer => ({ status: 200, body: JSON.stringify(value) });
const absent = (type: string): Answer => ({ status: 400, body: JSON.stringify({ __type: type, message: 'none' }) });
const NONE = 'arn:aws:cloudformation:eu-central-1:123456789012:stack';

/** Query protocol: STS and CloudFormation. */
function answerQuery(form: URLSearchParams, { stacks }: AccountFacts): Answer {
  const wrap = (inner: string): Answer => {
    const action = form.get('Action') ?? '';
    return { status: 200, body: `<${action}Response><${action}Result>${inner}</${action}Result></${action}Response>` };
  };
  if (form.get('Action') === 'GetCallerIdentity') return wrap('<Account>123456789012</Account>');
  const name = form.get('StackName') ?? '';
  const status = stacks[name];
  if (status === undefined) {
    const message = `Stack with id ${name} does not exist`;
    const error = `<Error><Type>Sender</Type><Code>ValidationError</Code><Message>${message}</Message></Error>`;
    return { status: 400, body: `<ErrorResponse>${error}</ErrorResponse>` };
  }
  const outputs =
    '<Outputs><member><OutputKey>Url</OutputKey><OutputValue>https://a.example</OutputValue></member></Outputs>';
  const facts = `<StackName>${name}</StackName><StackId>${NONE}/${name}/1</StackId><StackStatus>${status}</StackStatus>`;
  return wrap(
    `<Stacks><member>${facts}<EnableTerminationProtection>true</EnableTerminationProtection>${outputs}</member></Stacks>`,
  );
}

function answerTarget(target: string, body: string, facts: AccountFacts): Answer {
  if (target.endsWith('GetParameter')) {
    return facts.bootstrapVersion === undefined
      ? absent('ParameterNotFound')
      : json({ Parameter: { Value: facts.bootstrapVersion } });
  }
  // As the client has just written it.
  const { TableName } = JSON.parse(body) as { readonly TableName: string };
  return facts.tables.includes(TableName) ? json({ Table: { TableName } }) : absent('ResourceNotFoundException');
}

function answerLambda(path: string, { limit, unreserved, own }: AccountFacts): Answer {
  if (path.includes('/account-settings')) {
    return json({ AccountLimit: { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved } });
  }
  return own === undefined
    ? { ...absent('ResourceNotFoundException'), status: 404 }
    : json({ ReservedConcurrentExecutions: own });
}

async function answer(incoming: IncomingMessage, facts: AccountFacts): Promise<Answer> {
  const body = Buffer.concat(await incoming.toArray()).toString();
  const target = incoming.headers['x-amz-target'];
  if (typeof target === 'string') return answerTarget(target, body, facts);
  if (incoming.method === 'GET') return answerLambda(incoming.url ?? '', facts);
  return answerQuery(new URLSearchParams(body), facts);
}

/** Starts a server that speaks AWS's protocols as far as a preflight asks: STS, SSM, Lambda, DynamoDB, CloudFormation. */
export async function startAwsApi(facts: AccountFacts): Promise<LoopbackServer> {
  const server = createServer(async (incoming, outgoing) => {
    const { status, body } = await answer(incoming, facts);
    const { __type: type } = body.startsWith('{') ? JSON.parse(body) : { __type: undefined };
    const error = status >= 400 && type !== undefined ? { 'x-amzn-errortype': type } : {};
    outgoing.writeHead(status, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/xml', ...error });
    outgoing.end(body);
  });
  return await listenOnLoopback(server);
}
