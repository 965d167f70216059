const ISO = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Formats an ISO 8601 time at a place, or only its date; returns any other text unchanged. */
export function describeTime(result: string, place: string, isDate: boolean, isChinese: boolean): string {
  const match = ISO.exec(result.trim());
  if (!match) return result;
  const [, day = '', hour = '', zone = ''] = match;
  if (isDate) return withAside(day, weekdayOf(day, isChinese ? 'zh-CN' : 'en'), isChinese);
  const described = `${place}${isChinese ? '：' : ': '}${day} ${hour}`;
  return place === 'UTC' ? described : withAside(described, zone === 'Z' ? 'UTC' : `UTC${zone}`, isChinese);
}

function withAside(described: string, aside: string, isChinese: boolean): string {
  return isChinese ? `${described}（${aside}）` : `${described} (${aside})`;
}

function weekdayOf(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(Date.parse(`${day}T00:00:00Z`));
}
