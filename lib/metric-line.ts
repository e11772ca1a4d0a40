/**
 * A line in CloudWatch's embedded metric format: on the standard output of a function it adds one value to a metric.
 * Source: "Specification: Embedded metric format" in the guide of CloudWatch.
 */
export const metricLine = (metric: {
  name: string
  value: number
  unit: 'Count' | 'None' | 'Seconds'
  at: number
  /** Each dimension with its value; a metric is one for each set of values. */
  dimensions: Record<string, string>
}): string => {
  const { name, value, unit, at, dimensions } = metric
  const described = {
    Namespace: 'Berth',
    Dimensions: [Object.keys(dimensions)],
    Metrics: [{ Name: name, Unit: unit }],
  }
  const line = { _aws: { Timestamp: at, CloudWatchMetrics: [described] }, ...dimensions, [name]: value }
  return `${JSON.stringify(line)}\n`
}
