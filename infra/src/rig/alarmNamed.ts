import type { AlarmProperties } from './model/alarms.ts';
import { findResources } from './readTemplate.ts';

/** Finds an alarm of prod by the last part of its name. */
export function alarmNamed(name: string): AlarmProperties {
  const found = Object.values(findResources('prod', 'AWS::CloudWatch::Alarm')).find(
    ({ Properties }) => Properties.AlarmName === `prism-gateway-prod-${name}`,
  );
  if (found === undefined) throw new Error(`There is no alarm ${name}`);
  return found.Properties;
}
