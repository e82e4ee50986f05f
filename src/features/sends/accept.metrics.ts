import type { Metrics } from '../../platform/metrics/index.ts';
import type { CredentialReportsOptions } from './credential-reports.service.ts';

/** What the api counts of refused credentials; whatever is not `answered` or `failed` was dropped and never left. */
export function credentialReportMetrics(
  metrics: Metrics,
): Required<Pick<CredentialReportsOptions, 'observe'>> {
  const reports = metrics.counter({
    name: 'tonegate_credential_reports_total',
    help: 'Refused credentials of send requests by what became of their report to callback_url',
    labelNames: ['end'],
  });
  return { observe: (end) => reports.inc({ end }) };
}
