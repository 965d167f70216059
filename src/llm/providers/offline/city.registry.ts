export interface City {
  /** IANA time zone. */
  readonly timezone: string;
  readonly english: string;
  readonly chinese: string;
}

/** Columns: zone, English name, Chinese name. */
const TABLE = `
Asia/Shanghai Beijing 北京
Asia/Shanghai Shanghai 上海
Asia/Shanghai Shenzhen 深圳
Asia/Shanghai Guangzhou 广州
Asia/Shanghai Hangzhou 杭州
Asia/Shanghai Chengdu 成都
Asia/Shanghai China 中国
Asia/Hong_Kong Hong_Kong 香港
Asia/Macau Macau 澳门
Asia/Taipei Taipei 台北
Asia/Tokyo Tokyo 东京
Asia/Tokyo Osaka 大阪
Asia/Tokyo Japan 日本
Asia/Seoul Seoul 首尔
Asia/Seoul Korea 韩国
Asia/Singapore Singapore 新加坡
Asia/Kuala_Lumpur Kuala_Lumpur 吉隆坡
Asia/Bangkok Bangkok 曼谷
Asia/Ho_Chi_Minh Hanoi 河内
Asia/Jakarta Jakarta 雅加达
Asia/Manila Manila 马尼拉
Asia/Kolkata Delhi 新德里
Asia/Kolkata Mumbai 孟买
Asia/Kolkata Bangalore 班加罗尔
Asia/Kolkata India 印度
Asia/Karachi Karachi 卡拉奇
Asia/Dhaka Dhaka 达卡
Asia/Kathmandu Kathmandu 加德满都
Asia/Dubai Dubai 迪拜
Asia/Riyadh Riyadh 利雅得
Asia/Tehran Tehran 德黑兰
Asia/Jerusalem Jerusalem 耶路撒冷
Asia/Jerusalem Tel_Aviv 特拉维夫
Europe/London London 伦敦
Europe/Dublin Dublin 都柏林
Europe/Paris Paris 巴黎
Europe/Berlin Berlin 柏林
Europe/Berlin Munich 慕尼黑
Europe/Berlin Frankfurt 法兰克福
Europe/Madrid Madrid 马德里
Europe/Madrid Barcelona 巴塞罗那
Europe/Rome Rome 罗马
Europe/Rome Milan 米兰
Europe/Amsterdam Amsterdam 阿姆斯特丹
Europe/Brussels Brussels 布鲁塞尔
Europe/Zurich Zurich 苏黎世
Europe/Vienna Vienna 维也纳
Europe/Prague Prague 布拉格
Europe/Warsaw Warsaw 华沙
Europe/Budapest Budapest 布达佩斯
Europe/Copenhagen Copenhagen 哥本哈根
Europe/Stockholm Stockholm 斯德哥尔摩
Europe/Oslo Oslo 奥斯陆
Europe/Helsinki Helsinki 赫尔辛基
Europe/Lisbon Lisbon 里斯本
Europe/Athens Athens 雅典
Europe/Istanbul Istanbul 伊斯坦布尔
Europe/Kyiv Kyiv 基辅
Europe/Moscow Moscow 莫斯科
Africa/Cairo Cairo 开罗
Africa/Lagos Lagos 拉各斯
Africa/Nairobi Nairobi 内罗毕
Africa/Johannesburg Johannesburg 约翰内斯堡
America/New_York New_York 纽约
America/New_York Washington 华盛顿
America/New_York Boston 波士顿
America/Toronto Toronto 多伦多
America/Chicago Chicago 芝加哥
America/Denver Denver 丹佛
America/Los_Angeles Los_Angeles 洛杉矶
America/Los_Angeles San_Francisco 旧金山
America/Los_Angeles Seattle 西雅图
America/Vancouver Vancouver 温哥华
America/Mexico_City Mexico_City 墨西哥城
America/Bogota Bogota 波哥大
America/Lima Lima 利马
America/Sao_Paulo Sao_Paulo 圣保罗
America/Argentina/Buenos_Aires Buenos_Aires 布宜诺斯艾利斯
America/Santiago Santiago 圣地亚哥
Pacific/Honolulu Honolulu 檀香山
Pacific/Auckland Auckland 奥克兰
Australia/Sydney Sydney 悉尼
Australia/Melbourne Melbourne 墨尔本
Australia/Perth Perth 珀斯
`;

const CITIES: readonly City[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [timezone = '', english = '', chinese = ''] = line.split(' ');
    return { timezone, english: english.replaceAll('_', ' '), chinese };
  });
const BY_NAME = new Map(
  CITIES.flatMap((city) => [city.english.toLowerCase(), city.chinese].map((name) => [name, city])),
);

/** Matches the name of any city; English names as whole words. */
export const CITY_NAME = new RegExp(
  CITIES.map(({ english, chinese }) => String.raw`\b${english}\b|${chinese}`).join('|'),
  'i',
);

/** Finds a city by its English or Chinese name. */
export function cityNamed(name: string): City | undefined {
  return BY_NAME.get(name.toLowerCase());
}
