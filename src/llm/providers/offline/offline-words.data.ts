// Words and places that the offline model knows, in English and Chinese.

/** From zero to nineteen. */
export const ONES = [
  ...'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen'.split(' '),
  ...'sixteen seventeen eighteen nineteen'.split(' '),
];
export const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** A number; a negative one is in parentheses. */
const N = String.raw`(\d+(?:\.\d+)?|\(-[\d.]+\))`;

/** Whole phrases whose word order differs from that of the expression. */
export const ARITHMETIC_PHRASES = (
  [
    [String.raw`\s*\bpercent\b`, '%'],
    [String.raw`百分之\s*${N}`, '$1%'],
    [String.raw`%\s*(?:of|的)\s*`, '% * '],
    [String.raw`${N}\s*的\s*(?=\d[\d.]*%)`, '$1 * '],
    [String.raw`(?:square root of|√|根号|\bsqrt)\s*\(?${N}\)?`, '$1^0.5'],
    [String.raw`${N}\s*的?\s*(?:算术)?(?:平方根|开平?方)`, '$1^0.5'],
    [String.raw`cube root of ${N}`, '$1^(1/3)'],
    [String.raw`${N}\s*的?\s*立方根`, '$1^(1/3)'],
    [String.raw`${N}\s*的?\s*平方`, '$1^2'],
    [String.raw`${N}\s*的?\s*立方`, '$1^3'],
    [String.raw`${N}\s*的\s*${N}\s*次[方幂]`, '$1^$2'],
    [String.raw`${N} to the ${N}(?:st|nd|rd|th) power`, '$1^$2'],
    [String.raw`\s*\b(?:raised )?to the power (?:of )?`, '^'],
    [String.raw`${N} squared`, '$1^2'],
    [String.raw`\bsquare(?: of)? ${N}`, '$1^2'],
    [String.raw`${N} cubed`, '$1^3'],
    [String.raw`\b(?:sum of|add) ${N} (?:and|to) ${N}`, '$1 + $2'],
    [String.raw`\bdifference (?:between|of) ${N} and ${N}`, '$1 - $2'],
    [String.raw`\bsubtract ${N} from ${N}`, '$2 - $1'],
    [String.raw`\b(?:product of|multiply) ${N} (?:and|by) ${N}`, '$1 * $2'],
    [String.raw`\bdivide ${N} by ${N}`, '$1 / $2'],
    [String.raw`\bremainder (?:of|when) ${N} (?:is )?divided by ${N}`, '$1 % $2'],
    [String.raw`${N}\s*除以\s*${N}\s*的?余数`, '$1 % $2'],
    [String.raw`\b(?:double|twice) ${N}`, '2 * $1'],
    [String.raw`\bhalf (?:of )?${N}`, '$1 / 2'],
    [String.raw`${N}\s*[和与跟]\s*${N}\s*[的之]和`, '$1 + $2'],
    [String.raw`${N}\s*[和与跟]\s*${N}\s*[的之]差`, '$1 - $2'],
    [String.raw`${N}\s*[和与跟]\s*${N}\s*[的之]积`, '$1 * $2'],
    [String.raw`(\d)\s*x\s*(?=\d)`, '$1 * '],
  ] as const
).map(([pattern, replacement]) => [new RegExp(pattern, 'g'), replacement] as const);

/** Signs and words of operators, in the order of replacement. */
export const ARITHMETIC_OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/\*\*/g, '^'],
  [/[×✕·]|乘以?|\btimes\b|\bmultipl(?:ied|y) by\b/g, '*'],
  [/÷|⁄|除以|\bdivided? by\b/g, '/'],
  [/加上?|\bplus\b|\badd\b/g, '+'],
  [/[−–]|减去?|负|\bminus\b|\bsubtract\b|\bnegative\b\s*/g, '-'],
  [/\bsquared\b/g, '^2'],
  [/\bmod(?:ulo)?\b/g, '%'],
];
/** References to the last result. */
export const REFERENCE =
  /\b(?:that|it|this|the (?:last |previous )?(?:result|answer))\b|(?:上一个|上个|刚才的|这个)?结果|它|这个数/g;

/** Columns: zone, English name, Chinese name. */
export const CITY_TABLE = `
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
