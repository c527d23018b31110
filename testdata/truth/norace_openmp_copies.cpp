// Tasks with copies of objects, which are made before they may begin, and destroyed
// after they have ended.
// verdict: none
// flags: -O2 -fopenmp
#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Job {
	std::vector<int> parts;
	std::string name;
};

int main() {
	std::vector<long> sums(20);
	std::map<int, std::string> names;
#pragma omp parallel num_threads(4)
#pragma omp single
	for (int i = 0; i < 20; i++) {
		Job job;
		job.parts.assign(50, i);
		job.name = "job number " + std::to_string(i) + ", which has a long name";
#pragma omp task firstprivate(job) shared(sums, names)
		{
			job.parts.push_back(1);
			for (int p : job.parts)
				sums[i] += p;
			job.name += "!";
#pragma omp critical
			names[i] = job.name;
		}
	}
	long total = 0;
	for (long s : sums)
		total += s;
	printf("%ld %zu\n", total, names.size());
	return 0;
}
