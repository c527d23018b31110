// verdict: none
// flags: -O1
// What must not be predicted: accesses that a value read under a lock, a
// semaphore, a barrier, a condition or a finished thread orders, whatever the
// order of the critical sections.
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <thread>
#include <unistd.h>

static std::mutex m;
static std::condition_variable cv;
static bool ready, taken;
static int through_flag, through_condition, through_semaphore, through_barrier, through_join;
static sem_t sem;
static pthread_barrier_t barrier;
static int spare[3];

static void other_work(int i) {
	std::lock_guard<std::mutex> l(m);
	spare[i % 3]++;
}

static void producer() {
	through_flag = 1;
	other_work(0);
	{
		std::lock_guard<std::mutex> l(m);
		taken = true;
	}
	through_condition = 2;
	{
		std::lock_guard<std::mutex> l(m);
		ready = true;
	}
	cv.notify_one();
	through_semaphore = 3;
	sem_post(&sem);
	other_work(1);
	through_barrier = 4;
	pthread_barrier_wait(&barrier);
	other_work(2);
	through_join = 5;
}

static int consumer() {
	int sum = 0;
	for (bool t = false; !t;) {
		usleep(200);
		std::lock_guard<std::mutex> l(m);
		t = taken;
	}
	sum += through_flag++;
	other_work(0);
	{
		std::unique_lock<std::mutex> l(m);
		cv.wait(l, [] { return ready; });
	}
	sum += through_condition++;
	other_work(1);
	usleep(2000);
	sem_wait(&sem);
	sum += through_semaphore++;
	pthread_barrier_wait(&barrier);
	sum += through_barrier++;
	other_work(2);
	return sum;
}

int main() {
	int sum = 0;
	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, nullptr, 2);
	std::thread a(producer);
	std::thread b([&] { sum = consumer(); });
	b.join();
	usleep(5000);
	other_work(0);
	a.join();
	sum += through_join++;
	return sum != 1 + 2 + 3 + 4 + 5;
}
