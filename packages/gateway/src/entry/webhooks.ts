/** Delivers webhooks as functions of AWS Lambda; built by `npx prism build:lambda`. */

import { createLogger } from '@prism-gateway/runtime/logs';
import { createInvocation } from './lambda/createInvocation.ts';
import { createWebhooksHandler } from './lambda/createWebhooksHandler.ts';
import { parseWebhooksSettings } from './lambda/webhooksSettings.ts';
import { wireWebhooks } from './lambda/wireWebhooks.ts';

const invocation = createInvocation();
const fields = () => ({ awsRequestId: invocation.awsRequestId });
const write = (line: string) => void process.stdout.write(line);
const settings = parseWebhooksSettings(process.env);
const logger = createLogger({ write, now: Date.now, fields, level: settings.LOG_LEVEL });

export const handler = createWebhooksHandler({
  ...wireWebhooks({ settings, environment: process.env, logger }),
  ...{ logger, invocation },
});
