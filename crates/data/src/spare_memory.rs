//! How much memory a table may still take: for choices between memory and time or disk, which change no
//! number.

/// Bytes that can be had by what the system says, within the limit of the group of processes that
/// this one is in; 0 where it does not say.
pub fn spare_memory() -> usize {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let group = [read("/sys/fs/cgroup/memory.max"), read("/sys/fs/cgroup/memory.current")];
    spare(&read("/proc/meminfo"), &group)
}

fn spare(system: &str, [limit, used]: &[String; 2]) -> usize {
    let line = system.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok());
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let left = number(limit).map(|limit| limit.saturating_sub(number(used).unwrap_or(limit)));
    kib.unwrap_or(0).saturating_mul(1024).min(left.unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_what_system_and_group_have_to_spare_counts() {
        let system = "MemTotal: 9 kB\nMemAvailable:    2048 kB\nCached: 1 kB\n";
        let group = |limit: &str, used: &str| [limit.to_owned(), used.to_owned()];
        assert_eq!(spare(system, &group("", "")), 2 << 20);
        assert_eq!(spare(system, &group("max\n", "12\n")), 2 << 20);
        assert_eq!(spare(system, &group("1000\n", "900\n")), 100);
        assert_eq!(spare(system, &group("1000\n", "")), 0);
        assert_eq!(spare("", &group("max", "1")), 0);
    }
}
