import { count } from '../format';
import { t } from '../i18n';
import { href } from '../router';
import type { RunCounts } from '../types';

/** Numbers of failed runs by error code, each with a link to its list. @param query the other filters of that list */
export function FailedRuns({
  failed,
  query,
}: {
  readonly failed: RunCounts['failed'];
  readonly query: Readonly<Record<string, string>>;
}) {
  if (failed.length === 0) return null;
  return (
    <div class="row">
      <span class="label">{t('home.failedBy')}</span>
      {failed.map(({ error_code, count: runs }) => (
        <a
          key={error_code}
          class="badge failed"
          href={href(['runs'], { ...query, status: 'failed', ...(error_code !== null && { code: error_code }) })}
        >
          {error_code ?? t('unknown')} · {count(runs)}
        </a>
      ))}
    </div>
  );
}
