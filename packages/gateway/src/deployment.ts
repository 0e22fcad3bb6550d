/** `@prism-gateway/gateway/deployment`: what a deployment must know of the gateway to give it its tables, settings, secrets and alarms. */

export { SettingsError } from '@prism-gateway/node/settings';
export { DEPLOYED_CEILINGS, DEPLOYED_LIMITS } from './deployedLimits.ts';
export { createSecretReader } from './drivers/aws/createSecretReader.ts';
export { parseSecretArn } from './drivers/aws/secretAddress.ts';
export {
  deliveriesTable,
  type IndexDescription,
  type KeyAttribute,
  type TableDescription,
  type TableNames,
  tableDescriptions,
} from './drivers/dynamodb/tables.ts';
export { EMF_NAMESPACE } from './drivers/emf/createEmfMetrics.ts';
export { parseFunctionSettings } from './entry/lambda/functionSettings.ts';
