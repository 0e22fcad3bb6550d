/** The gateway as a function of AWS Lambda; built by `npx prism build:lambda`. */

import { createLogger, type Logger } from '@prism-gateway/node/logs';
import { createSecretReader } from '../drivers/aws/createSecretReader.ts';
import { createHandler } from './lambda/createHandler.ts';
import { createInvocation } from './lambda/createInvocation.ts';
import { createOriginGuard } from './lambda/createOriginGuard.ts';
import { parseFunctionSettings } from './lambda/functionSettings.ts';
import { resolveSecrets } from './lambda/resolveSecrets.ts';
import { warmUp } from './lambda/warmUp.ts';
import { wireFunction } from './lambda/wireFunction.ts';

/** Longest that an answer waits for the collector, in milliseconds. */
const TRACING_TIMEOUT_MS = 1000;

/** Lambda's standard output is a pipe, to which Node writes before it goes on. */
const write = (line: string) => void process.stdout.write(line);

/** Gets an instance ready: what fails here fails the function at its init, and is in its log. */
async function start() {
  const invocation = createInvocation();
  const logging = { write, now: Date.now, fields: () => ({ awsRequestId: invocation.awsRequestId }) };
  try {
    const environment = await resolveSecrets(process.env, createSecretReader(process.env));
    const settings = parseFunctionSettings(environment);
    // Loaded by those who trace alone.
    const { openTracing } =
      environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
        ? await import('@prism-gateway/node/tracing')
        : { openTracing: undefined };
    const tracing = openTracing?.({
      environment,
      serviceName: 'prism-gateway',
      timeoutMs: TRACING_TIMEOUT_MS,
      onFault: (reason) => logger.warn({ code: 'TRACES_NOT_DELIVERED', reason }, 'the collector takes no traces'),
    });
    const fields = () => ({ ...logging.fields(), ...tracing?.tracer.logFields() });
    const logger: Logger = createLogger({ ...logging, fields, level: settings.LOG_LEVEL });
    const openApiFile = new URL('openapi.json', import.meta.url);
    const wired = await wireFunction({ settings, environment, invocation, logger, write, openApiFile, tracing });
    const { basePath, originSecrets } = settings;
    const handler = createHandler({
      ...wired,
      logger,
      basePath,
      guardOrigin: createOriginGuard(originSecrets),
      invocation,
    });
    await warmUp({ ...wired, handler, settings, now: Date.now });
    return handler;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    createLogger({ ...logging, level: 'error' }).error({ reason }, 'the function cannot start');
    throw error;
  }
}

export const handler = await start();
